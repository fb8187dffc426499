"""Addresses of the pages about the whole site."""

from django.urls import path

from leaderboard.web.site import demo, home, search, site_map

urlpatterns = [
    path("", home.home, name="home"),
    path("livez", home.livez, name="livez"),
    path("about/", home.about, name="about"),
    path("robots.txt", site_map.robots, name="robots"),
    path("sitemap.xml", site_map.sitemap_index, name="sitemap"),
    path("sitemap-<slug:section>.xml", site_map.sitemap_section, name="sitemap_section"),
    path("search/", search.search, name="search"),
    path("releases/", home.releases, name="releases"),
    path("demo/sign-in/<str:uidb64>/<str:key>/", demo.sign_in, name="demo_sign_in"),
]
