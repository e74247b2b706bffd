"""pydata-sphinx-theme 0.16.1, Sphinx 7.4.7, sphinx-design 0.8.0: they take it for granted that the browser keeps what
it is given. One that refuses (cookies blocked, a frame in a sandbox) or is full throws at the first line that asks,
and menus, theme, search and copy buttons are gone.

It can go once all of them ask with care, and reading.mjs too.
"""

HEAD = '<script data-cfasync="false">'  # the theme's, which asks first
# What the browser does not keep is kept in memory until the page is left.
STAND_IN = """<script>
  for (const name of ["localStorage", "sessionStorage"]) {
    const kept = new Map();
    let real = null;
    try { real = window[name]; } catch {}
    const store = {
      getItem: (key) => kept.get(`${key}`) ?? real?.getItem(key) ?? null,
      setItem(key, value) {
        store.removeItem(key);
        try { real.setItem(key, value); } catch { kept.set(`${key}`, `${value}`); }
      },
      removeItem(key) { kept.delete(`${key}`); real?.removeItem(key); },
      get lasts() { return real !== null && kept.size === 0; },
    };
    Object.defineProperty(window, name, { value: store });
  }
</script>
"""


def page(html: str) -> str:
    return html if STAND_IN in html else html.replace(HEAD, STAND_IN + "  " + HEAD, 1)
