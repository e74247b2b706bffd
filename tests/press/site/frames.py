"""Waiting for a page by what it draws, not by a clock."""

DRAWN = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
# Until an element has kept its place for thirty frames.
STILL = """(id) => new Promise((done) => {
  let [last, frames] = [NaN, 0];
  const look = () => {
    const { top } = document.getElementById(id).getBoundingClientRect();
    frames = top === last ? frames + 1 : 0;
    last = top;
    if (frames < 30) requestAnimationFrame(look); else done();
  };
  look();
})"""
