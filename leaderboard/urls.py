"""Every address of the site. The fleet is included by its name, because the leaderboard never imports it."""

from allauth.mfa.recovery_codes.views import view_recovery_codes
from django.contrib import admin
from django.urls import include, path
from django.views.decorators.cache import never_cache
from django.views.generic import RedirectView, TemplateView

handler400 = "leaderboard.site.bad_request.bad_request"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/node/v1/", include("runners.fleet.urls")),
    path("api/v1/", include("runners.fleet.api.urls")),
    path("api/", include("leaderboard.api.urls")),
    path("accounts/password/reset/", TemplateView.as_view(template_name="account/password_reset.html")),  # mails none
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", RedirectView.as_view(pattern_name="sign_in_methods")),  # in place of allauth's list
    path("accounts/2fa/recovery-codes/", never_cache(view_recovery_codes)),  # shown once: no browser keeps the page
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("accounts/", include("leaderboard.web.accounts.social")),
    path("accounts/3rdparty/", include("allauth.socialaccount.urls")),
    path("accounts/", include("allauth.socialaccount.providers.github.urls")),
    path("accounts/", include("allauth.socialaccount.providers.openid_connect.urls")),
    path("", include("leaderboard.web.urls")),
    path("", include("runners.fleet.web.urls")),
]
