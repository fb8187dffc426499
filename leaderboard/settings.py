"""Django settings; everything that differs between installations comes from the environment (docs/configuration.md)."""

import logging
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from leaderboard.accounts import providers
from leaderboard.site import env
from runners.wire import log_lines

_CHECKOUT = Path(__file__).resolve().parent.parent
_IS_INSTALLED = not (_CHECKOUT / "manage.py").is_file()
BASE_DIR = Path(__file__).resolve().parent / "shipped" if _IS_INSTALLED else _CHECKOUT
"""Holds templates/ and static/, which setup.py copies into a wheel."""
VAR_DIR = Path(env.text("PODIUM_VAR_DIR", str((Path.cwd() if _IS_INSTALLED else BASE_DIR) / "var")))
VAR_DIR.mkdir(parents=True, exist_ok=True)

DEBUG = env.boolean("PODIUM_DEBUG", False)
SERVES = env.text("PODIUM_SERVES", "")
"""`site` in leaderboard/wsgi.py, `worker` in leaderboard/celery.py, `pmpp` in leaderboard/pmpp/wsgi.py, where the
process serves PMPP's routes and nothing else. Empty for commands."""
DEMO = env.boolean("PODIUM_DEMO", False)


def _generated_secret_key() -> str:
    """A key of this installation's own, made once under var/ (the demo and tests; production sets its own)."""
    path = VAR_DIR / "secret_key"
    if not path.exists():
        draft = path.with_name(f".secret_key.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(60), encoding="utf-8")
        with suppress(FileExistsError):
            os.link(draft, path)  # whole or not at all: processes that start together end with one key
        draft.unlink()
    return path.read_text(encoding="utf-8").strip()


SECRET_KEY = env.text("PODIUM_SECRET_KEY", "") or _generated_secret_key()
SECRET_KEY_IS_GENERATED = env.text("PODIUM_SECRET_KEY", "") == ""
ALLOWED_HOSTS = [host for host in env.text("PODIUM_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]").split(",") if host]
SITE_URL = env.text("PODIUM_SITE_URL", f"http://127.0.0.1:{env.integer('PORT', 8000)}").rstrip("/")
if not SITE_URL.startswith(("http://", "https://")):
    raise ImproperlyConfigured(f"PODIUM_SITE_URL is {SITE_URL!r}; it must start with http:// or https://.")
BEHIND_PROXY = env.boolean("PODIUM_BEHIND_PROXY", False)
HTTPS = SITE_URL.startswith("https://")
CSRF_TRUSTED_ORIGINS = [SITE_URL]

INSTALLED_APPS = [
    "leaderboard.apps.PodiumAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.sitemaps",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_filters",
    "django_htmx",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.github",
    "allauth.socialaccount.providers.openid_connect",
    "axes",
    "csp",
    "problems",
    "leaderboard",
    "runners.fleet",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "runners.fleet.nodes.node_calls.NodeCalls",
    "csp.middleware.CSPMiddleware",
    "leaderboard.site.bounded_requests.BoundedRequests",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "axes.middleware.AxesMiddleware",
    "leaderboard.accounts.staff_mfa.StaffNeedSecondFactor",
    "leaderboard.site.refused_pages.RefusedPages",
]

ROOT_URLCONF = "leaderboard.pmpp.urls" if SERVES == "pmpp" else "leaderboard.urls"
WSGI_APPLICATION = "leaderboard.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]


DATABASE_URL_SHAPES = "DATABASE_URL must be sqlite:///<path> or postgresql://<user>:<password>@<host>/<database>."
PMPP_CONNECTIONS = 8
"""Database connections of the process with a thread for each waiting caller. Callers hold none while they wait."""
_KEPT_SECONDS = 0 if SERVES == "pmpp" else 60
LOCK_TIMEOUT_SECONDS = env.integer("PODIUM_LOCK_TIMEOUT_SECONDS", 10, least=0)
STATEMENT_TIMEOUT_SECONDS = {
    "": 0,  # a migration or a backup takes as long as it takes
    "site": env.integer("PODIUM_STATEMENT_TIMEOUT_SECONDS", 30, least=0),
    "pmpp": env.integer("PODIUM_STATEMENT_TIMEOUT_SECONDS", 30, least=0),
    "worker": env.integer("PODIUM_WORKER_STATEMENT_TIMEOUT_SECONDS", 600, least=0),
}
if SERVES not in STATEMENT_TIMEOUT_SECONDS:
    raise ImproperlyConfigured(f"PODIUM_SERVES is {SERVES!r}. Unset it: the site's programs set it themselves.")


def _timeouts(options: str) -> dict[str, str]:
    """PostgreSQL's options of a connection, those of DATABASE_URL first: its longest wait for a lock and longest
    statement. Commands have neither. 0 leaves a limit out."""
    seconds = {"statement_timeout": STATEMENT_TIMEOUT_SECONDS[SERVES]}
    seconds |= {"lock_timeout": LOCK_TIMEOUT_SECONDS} if SERVES else {}
    added = [f"-c {name}={limit * 1000}" for name, limit in seconds.items() if limit]
    found = " ".join([options, *added]).strip()
    return {"options": found} if found else {}


def _database() -> dict[str, Any]:
    url = env.text("DATABASE_URL", f"sqlite:///{VAR_DIR / 'podium.sqlite3'}")
    try:
        config: dict[str, Any] = dict(dj_database_url.parse(url, conn_max_age=_KEPT_SECONDS, conn_health_checks=True))
    except ValueError:  # its message may hold the password
        raise ImproperlyConfigured(DATABASE_URL_SHAPES) from None
    if config["ENGINE"].endswith("sqlite3"):
        # IMMEDIATE takes the write lock at BEGIN: deferred transactions that upgrade later fail under contention.
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
            "PRAGMA cache_size=-65536; PRAGMA mmap_size=268435456;",
        }
        # In a file, so that threads and processes of one test share it.
        config["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}
    elif not config["ENGINE"].endswith("postgresql"):
        raise ImproperlyConfigured(DATABASE_URL_SHAPES)
    else:
        config["OPTIONS"] = config.get("OPTIONS", {}) | _timeouts(str(config.get("OPTIONS", {}).get("options", "")))
    if SERVES == "pmpp" and not config["ENGINE"].endswith("sqlite3"):
        pool = {"min_size": 1, "max_size": PMPP_CONNECTIONS}
        config["OPTIONS"] = config.get("OPTIONS", {}) | {"pool": pool, "application_name": "podium-pmpp"}
    return config


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHE_URL = env.text("PODIUM_CACHE_URL", "")


def _cache() -> dict[str, Any]:
    """One cache for all processes of the site: it holds what the throttles count."""
    if not CACHE_URL:
        return {
            "BACKEND": "django.core.cache.backends.db.DatabaseCache",
            "LOCATION": "podium_cache",
            "OPTIONS": {"MAX_ENTRIES": 10_000},
        }
    if not CACHE_URL.startswith(("redis://", "rediss://")):
        raise ImproperlyConfigured("PODIUM_CACHE_URL must be redis://… or rediss://…, or empty for the database.")
    return {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": CACHE_URL, "KEY_PREFIX": "podium"}


CACHES = {"default": _cache()}

BROKER_URL = env.text("PODIUM_BROKER_URL", "filesystem://")
NODE_BROKER_URL = env.text("PODIUM_NODE_BROKER_URL", "")
BROKER_FOLDER = VAR_DIR / "broker"
CELERY_EVENTS = env.boolean("PODIUM_CELERY_EVENTS", False)
METRICS_TOKEN = env.text("PODIUM_METRICS_TOKEN", "")
LOG_DAYS = env.integer("PODIUM_LOG_DAYS", 0, least=0)
COLLECT_BLOBS = env.boolean("PODIUM_COLLECT_BLOBS", False)
BLOB_URL = env.text("PODIUM_BLOB_URL", str(VAR_DIR / "blobs"))

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = DEBUG

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_REDIRECT_URL = "account"
LOGIN_URL = "account_login"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_PREVENT_ENUMERATION = "strict"  # an address may be given for several accounts: the site verifies none
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_USERNAME_CALLABLE = "leaderboard.accounts.sign_in_audit.name_tried"
ACCOUNT_ADAPTER = "leaderboard.web.accounts.sign_up.AccountAdapter"
ACCOUNT_FORMS = {
    "signup": "leaderboard.web.accounts.sign_up.SignUpForm",
    "change_password": "leaderboard.web.accounts.password_forms.ChangePasswordForm",
    "set_password": "leaderboard.web.accounts.password_forms.SetPasswordForm",
}
ACCOUNT_REAUTHENTICATION_REQUIRED = True
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # the site verifies no addresses
MFA_TOTP_ISSUER = "Podium"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS  # browsers offer passkeys without TLS on localhost alone
STAFF_MFA = env.boolean("PODIUM_STAFF_MFA", False)
SOCIALACCOUNT_ADAPTER = "leaderboard.web.accounts.social.SocialAccountAdapter"
SOCIALACCOUNT_FORMS = {"signup": "leaderboard.web.accounts.social.SocialSignUpForm"}
SOCIALACCOUNT_QUERY_EMAIL = True
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True  # where PODIUM_…_TRUSTS_EMAIL allows it at all
SOCIALACCOUNT_PROVIDERS = providers.from_environment()
SIGNUP = env.text("PODIUM_SIGNUP", "open")
if SIGNUP not in ("open", "domain", "invitation", "closed"):
    raise ImproperlyConfigured(f"PODIUM_SIGNUP is {SIGNUP!r}; use open, domain, invitation or closed.")
SIGNUP_DOMAINS = [one.strip().lower() for one in env.text("PODIUM_SIGNUP_DOMAINS", "").split(",") if one.strip()]
MAIL_FROM = env.text("PODIUM_MAIL_FROM", f"podium@{urlsplit(SITE_URL).hostname}")
MAIL_URL = env.text("PODIUM_MAIL_URL", "")
if SIGNUP == "domain" and not (SIGNUP_DOMAINS and MAIL_URL):
    raise ImproperlyConfigured("PODIUM_SIGNUP=domain needs PODIUM_SIGNUP_DOMAINS, and PODIUM_MAIL_URL to mail to them.")


def _mail() -> dict[str, Any]:
    """Arguments of Django's mail connection. `smtp://` uses STARTTLS, except to a server on this machine."""
    url, shapes = urlsplit(MAIL_URL), "PODIUM_MAIL_URL must be smtp://user:password@host:587 or smtps://…."
    try:
        port = url.port
    except ValueError:
        raise ImproperlyConfigured(shapes) from None
    if MAIL_URL and (url.scheme not in ("smtp", "smtps") or not url.hostname):
        raise ImproperlyConfigured(shapes)
    if not MAIL_URL:
        return {"backend": "django.core.mail.backends.console.EmailBackend"}
    is_local = url.hostname in ("localhost", "127.0.0.1")
    return {
        "backend": "django.core.mail.backends.smtp.EmailBackend",
        "host": url.hostname,
        "port": port or {"smtps": 465}.get(url.scheme, 25 if is_local else 587),
        "username": unquote(url.username or ""),
        "password": unquote(url.password or ""),
        "use_ssl": url.scheme == "smtps",
        "use_tls": url.scheme == "smtp" and not is_local,
    }


MAIL = _mail()
WEBHOOK_PRIVATE = env.boolean("PODIUM_WEBHOOK_PRIVATE", False)
# Invitations and notifications are mailed, and nothing else: a link that sets a password has no place in a mailbox or
# in the log of the site.
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
AXES_CLIENT_IP_CALLABLE = "leaderboard.site.client_address.of"
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if BEHIND_PROXY else 0

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
FORMAT_MODULE_PATH = "leaderboard.formats"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        # plotly.js sets style attributes and one style element; scripts stay strict.
        "style-src": [SELF, "'unsafe-inline'"],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
SECURE_REDIRECT_EXEMPT = [r"^livez$", r"^readyz$", r"^metrics(/jobs)?$"]

DAILY_EVALUATIONS = env.integer("PODIUM_DAILY_EVALUATIONS", 50_000)
DAILY_TRIES = env.integer("PODIUM_DAILY_TRIES", 50)
ENTRANTS_PER_ACCOUNT = env.integer("PODIUM_ENTRANTS_PER_ACCOUNT", 20)
DAILY_BYTES = env.integer("PODIUM_DAILY_BYTES", 1024 * 1024 * 1024)
UPLOAD_MAX_BYTES = env.integer("PODIUM_UPLOAD_MAX_BYTES", 64 * 1024 * 1024)
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000

LEASE_SECONDS = env.integer("PODIUM_LEASE_SECONDS", 60)
HEARTBEAT_SECONDS = env.integer("PODIUM_HEARTBEAT_SECONDS", 10)
NODE_CALLS = env.integer("PODIUM_NODE_CALLS", 4)
MAX_ATTEMPTS = 3
MAX_GIVEN_BACK = MAX_UNBEGUN = 20
RANKING_INTERVAL_SECONDS = env.integer("PODIUM_RANKING_INTERVAL_SECONDS", 2)
AUDIT_MUTANTS = env.integer("PODIUM_AUDIT_MUTANTS", 12, least=0)
VERIFY_AGAIN_DAYS = env.integer("PODIUM_VERIFY_AGAIN_DAYS", 7, least=0)
BOOTSTRAP_DRAWS = 1000

PACKING_SECONDS = env.integer("PODIUM_PACKING_SECONDS", 900)
PACKING_PROBLEM_SECONDS = env.integer("PODIUM_PACKING_PROBLEM_SECONDS", 120)
PACKING_MEMORY_MIB = env.integer("PODIUM_PACKING_MEMORY_MIB", 4096, least=64)

SUBMIT_RATE = env.text("PODIUM_SUBMIT_RATE", "120/min")
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "leaderboard.api.site.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticatedOrReadOnly"],
    "DEFAULT_PARSER_CLASSES": [
        "leaderboard.api.site.json_parser.BoundedJSONParser",
        "rest_framework.parsers.FormParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.LimitOffsetPagination",
    "PAGE_SIZE": 100,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.ScopedRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"submit": SUBMIT_RATE},
    "NUM_PROXIES": 1 if BEHIND_PROXY else 0,
    "EXCEPTION_HANDLER": "leaderboard.api.site.errors.handle",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Podium API",
    "DESCRIPTION": "Boards, releases, submissions and results of this Podium site.",
    "VERSION": "1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,  # else an upload is described as an address, and no text has a shortest length
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_NAME_OVERRIDES": {"ProblemKindEnum": "problems.models.KINDS"},
}

PMPP_URL = env.text("PODIUM_PMPP_URL", SITE_URL).rstrip("/")
PMPP_WAITING = env.integer("PODIUM_PMPP_WAITING", 128)
PMPP_OPEN_RUNS = env.integer("PODIUM_PMPP_OPEN_RUNS", 256)

LOG_LEVEL = env.text("PODIUM_LOG_LEVEL", "WARNING")
if LOG_LEVEL not in logging.getLevelNamesMapping():
    raise ImproperlyConfigured(f"PODIUM_LOG_LEVEL is {LOG_LEVEL!r}; use DEBUG, INFO, WARNING, ERROR or CRITICAL.")
LOG_FORMAT = env.text(log_lines.VARIABLE, log_lines.LINE)
if LOG_FORMAT not in log_lines.FORMATS:
    raise ImproperlyConfigured(f"{log_lines.VARIABLE} is {LOG_FORMAT!r}; use line or json.")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "class": "leaderboard.site.redaction.RedactingFormatter",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        },
        "json": {"()": "leaderboard.site.redaction.RedactingJsonLines"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
}
