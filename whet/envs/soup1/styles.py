"""Six ways in which sites are written: their assets, their class names, and what wraps the main column.

Filler speaks only this vocabulary. It has no `h1`, `main`, table, form, field, list of definitions, figure, canvas,
embedded document or structured data, so a task may ask for any of these by tag.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageStyle:
    """The habits of one framework. `classes` gives the class attribute of each role that filler has."""

    name: str
    assets: str
    opening: str
    closing: str
    classes: Mapping[str, str]
    mark: str = ""
    """An attribute that the framework leaves on elements, with the space before it."""

    def open(self, tag: str, role: str) -> str:
        """An opening tag in this style."""
        return f'<{tag} class="{self.classes[role]}"{self.mark}>'


ROLES = ("nav", "list", "entry", "link", "grid", "card", "title", "text", "amount", "aside", "talk", "reply", "foot")


def _named(names: str) -> dict[str, str]:
    return dict(zip(ROLES, (name.strip() for name in names.split("|")), strict=True))


STYLES = (
    PageStyle(
        "traditional",
        '<link rel="stylesheet" href="/css/site.css">\n<link rel="stylesheet" href="/css/print.css" media="print">',
        '<div class="page-wrap"><div class="page-column">',
        "</div></div>",
        _named(
            "topnav|linklist|linklist-entry|plainlink|boxes|box|box-title|copy|box-price|rail|guestbook|guestbook-post|bottom"
        ),
    ),
    PageStyle(
        "bootstrap",
        '<link href="/assets/bootstrap.min.css" rel="stylesheet">\n'
        '<script src="/assets/bootstrap.bundle.min.js"></script>',
        '<div class="container-fluid"><div class="row"><div class="col-lg-9">',
        "</div></div></div>",
        _named(
            "navbar navbar-expand-lg|navbar-nav me-auto|nav-item|nav-link|row g-3|card h-100 shadow-sm|card-title"
            "|card-text|badge bg-secondary|col-lg-3 d-none d-lg-block|list-group|list-group-item|footer mt-auto py-3"
        ),
    ),
    PageStyle(
        "tailwind",
        '<script src="/assets/tailwind.js"></script>\n<style>body{margin:0}</style>',
        '<div class="min-h-screen bg-gray-50"><div class="mx-auto max-w-7xl px-4">',
        "</div></div>",
        _named(
            "flex items-center justify-between|flex space-x-4|px-3 py-2|text-gray-700 hover:text-gray-900"
            "|grid grid-cols-3 gap-4|rounded-lg border p-4 shadow|text-lg font-semibold|mt-2 text-sm text-gray-500"
            "|text-base font-bold|hidden lg:block w-64|divide-y divide-gray-200|py-4 flex flex-col|border-t py-8"
        ),
    ),
    PageStyle(
        "react",
        '<script defer src="/static/js/main.8f3b21.chunk.js"></script>\n'
        '<link href="/static/css/main.css" rel="stylesheet">',
        '<div id="root"><div class="App_shell__x1Kd2" data-reactroot="">',
        "</div></div>",
        _named(
            "Nav_root__3kPq9|Nav_list__1mZx0|Nav_entry__7yTr2|Nav_link__0aBc4|Grid_root__5nHj8|Card_root__2wEr6"
            "|Card_title__9qWe1|Card_copy__4rTy7|Card_cost__8uIo3|Aside_root__6pLk5|Thread_root__1sDf2|Thread_post__3gHj4"
            "|Footer_root__7kLm9"
        ),
    ),
    PageStyle(
        "angular",
        '<base href="/">\n<link rel="stylesheet" href="/styles.ef46db3751d8e999.css">',
        '<app-root ng-version="17.3.0"><app-layout><div class="layout-content" _ngcontent-ng-c31="">',
        "</div></app-layout></app-root>",
        _named(
            "mat-toolbar|mat-nav-list|mat-list-item|mat-list-link|mat-grid-list|mat-card|mat-card-title|mat-card-content"
            "|mat-chip|mat-sidenav|mat-list|mat-list-post|mat-footer"
        ),
        ' _ngcontent-ng-c31=""',
    ),
    PageStyle(
        "vue",
        '<script type="module" crossorigin src="/assets/index-4b1c9a.js"></script>\n'
        '<link rel="stylesheet" href="/a.css">',
        '<div id="app" data-v-app=""><div class="v-layout" data-v-7ba5bd90>',
        "</div></div>",
        _named(
            "v-app-bar|v-menu|v-menu-item|v-btn v-btn--text|v-row|v-card v-sheet|v-card__title|v-card__text|v-chip"
            "|v-navigation-drawer|v-timeline|v-timeline-post|v-footer"
        ),
        " data-v-7ba5bd90",
    ),
)
