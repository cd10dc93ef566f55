"""Damage that changes no answer: broken markup that is closed in a box of its own, so every parser "
"recovers at its end."""

from __future__ import annotations

from whet.envs.soup.site.piece import Piece, compiled

_DAMAGE = (
    '<div class="‹loose›"><ul><li>«Noun» «noun»<li>«Adj» «noun»<li>«Noun»</ul></div>\n',
    '<div class="‹loose›"><p>The «noun» «verb»<p>the «adj» «noun»</div>\n',
    "<div><p>«Noun» <b>«adj» <i>«noun»</b></i> «verb»</p></div>\n",
    '<div class="‹loose›"><p>A «adj» «noun».</span></p></em></div>\n',
    "<div class=‹loose-bare› data-n=«num3»><a href=/«noun»/«num4» title=«noun»>«Adj» «noun»</a></div>\n",
    "<div><p>«Noun» & «noun» < «num2» &nosuch; «adj»</p></div>\n",
    '<div class="‹loose›" title="«noun»" title="«adj»"><p>The «noun» «verb».</p></div>\n',
    "<DIV CLASS='‹loose›'><FONT COLOR=#«hex6» SIZE=2>«Noun» «verb» the «noun»</FONT><BR><BR></DIV>\n",
    "<div><center>«Adj» «noun»</center><p>«num2»% <nobr>«noun» «noun»</nobr></div>\n",
    '<div class="‹loose›" id="«dup»"><span id="«dup»">«noun»</span><span id="«dup»">«noun»</span></div>\n',
    "<div><!-- «noun» -- «adj» --><p>«Noun»</p><!----></div>\n",
    '<div><img src="/i/«hex6».gif" alt="«Adj» «noun»" border=0 / ><br/ >«noun»</div>\n',
)


def damages() -> tuple[Piece, ...]:
    return tuple(map(compiled, _DAMAGE))
