// A classic script that runs before the first paint: which theme, and nothing else.
// `document.documentElement.dataset.theme` is absent where the system decides.
(() => {
  try {
    const theme = localStorage.getItem('theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is refused in some private windows; the system decides then.
  }
})();
