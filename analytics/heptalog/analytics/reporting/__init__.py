"""The report: one page about a tournament, or about everything, for who does not ask in SQL.

    ask ── answers.py ── figures/ ── drawing.py ── page.py

`answers.py` asks its questions of the same views as anybody else; each file of `figures/` makes charts of the answers,
with a caption that says in words what is seen; `drawing.py` draws them; `page.py` puts them on a page that needs
nothing but itself: no script, no font, no request. The same moment gives the same bytes.
"""
