"""Addresses of a person's own account."""

from django.urls import path

from leaderboard.web.accounts import account, account_data, notifications, pmpp, sign_up

urlpatterns = [
    path("account/", account.account, name="account"),
    path("account/invitation/", sign_up.request_invitation, name="request_invitation"),
    path("account/tokens/", account.tokens, name="tokens"),
    path("account/tokens/new/", account.new_token, name="new_token"),
    path("account/tokens/<int:pk>/revoke/", account.revoke_token, name="revoke_token"),
    path("account/notifications/", notifications.notifications, name="notifications"),
    path("account/notifications/mail/", notifications.switch_mail, name="switch_mail"),
    path("account/notifications/feed/new/", notifications.new_feed, name="new_feed"),
    path("account/notifications/feed/revoke/", notifications.revoke_feed, name="revoke_feed"),
    path("account/notifications/webhooks/new/", notifications.new_webhook, name="new_webhook"),
    path("account/notifications/webhooks/<int:pk>/switch/", notifications.switch_webhook, name="switch_webhook"),
    path("account/notifications/webhooks/<int:pk>/test/", notifications.test_webhook, name="test_webhook"),
    path(
        "account/notifications/webhooks/<int:pk>/secret/",
        notifications.new_webhook_secret,
        name="new_webhook_secret",
    ),
    path("account/notifications/webhooks/<int:pk>/delete/", notifications.delete_webhook, name="delete_webhook"),
    path("feeds/<str:token>/submissions.atom", notifications.personal_feed, name="personal_feed"),
    path("account/pmpp/", pmpp.tokens, name="pmpp_tokens"),
    path("account/pmpp/new/", pmpp.new_token, name="new_pmpp_token"),
    path("account/pmpp/<int:pk>/", pmpp.runs, name="pmpp_runs"),
    path("account/pmpp/<int:pk>/revoke/", pmpp.revoke_token, name="revoke_pmpp_token"),
    path("account/entrants/new/", account.new_entrant, name="new_entrant"),
    path("account/entrants/<slug:slug>/", account.edit_entrant, name="edit_entrant"),
    path("account/sign-in/", account.sign_in_methods, name="sign_in_methods"),
    path("account/quota/", account.quota, name="quota"),
    path("account/data/", account_data.account_data, name="account_data"),
    path("account/data/export.json", account_data.export_account, name="export_account"),
    path("account/data/delete/", account_data.remove_account, name="remove_account"),
]
