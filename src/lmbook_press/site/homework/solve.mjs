// The button "Solve it here" of a homework's page: all else comes when it is pressed.

const button = /** @type {HTMLButtonElement} */ (document.getElementById("lm-solve-here"));
const place = button?.closest("p");
const kept = `lmbook-solved-${button?.dataset.homework}`;

async function solve() {
  button.disabled = true;
  try {
    const { open } = await import("./desk.mjs");
    const desk = await open(place, button.dataset.homework);
    Object.assign(globalThis, { lmDesk: desk });
    localStorage.setItem(kept, "1");
    place.hidden = true;
    desk.bar.querySelector("button").focus({ preventScroll: true });
  } catch (error) {
    button.disabled = false;
    place.querySelector("span").textContent =
      location.protocol === "file:"
        ? "A page that is opened from a disk may load nothing. " +
          "In its folder run python -m http.server, and open http://localhost:8000."
        : error.message;
  }
}

if (button) {
  button.addEventListener("click", solve);
  if (localStorage.getItem(kept)) button.textContent = "Go on solving it here";
  if (location.hash === "#solve") solve();
}
