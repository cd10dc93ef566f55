"""`whet groupqc`: its commands by name. Each command's file stands beside what it calls, and imports it when called."""

from __future__ import annotations

import typer

from whet.apps.groupqc import APP
from whet.apps.groupqc.audit.command import audit
from whet.apps.groupqc.decision.command import calibrate, decide
from whet.apps.groupqc.drift.command import drift, watch
from whet.apps.groupqc.generation.command import generate
from whet.apps.groupqc.lint import lint
from whet.apps.groupqc.pack.command import app as pack
from whet.apps.groupqc.pipeline.command import run
from whet.apps.groupqc.smoke.command import smoke
from whet.apps.groupqc.stage_a.command import merge, stage_a

app = typer.Typer(name="groupqc", no_args_is_help=True, help=APP.about, rich_markup_mode=None)
app.command("audit", no_args_is_help=True)(audit)
app.command("decide", no_args_is_help=True)(decide)
app.command("calibrate", no_args_is_help=True)(calibrate)
app.command("run", no_args_is_help=True)(run)
app.command("stage-a", no_args_is_help=True)(stage_a)
app.command("merge", no_args_is_help=True)(merge)
app.command("lint", no_args_is_help=True)(lint)
app.command("drift", no_args_is_help=True)(drift)
app.command("watch", no_args_is_help=True)(watch)
app.command("generate", no_args_is_help=True)(generate)
app.command("smoke")(smoke)
app.add_typer(pack)
