// Clicking a box spreads it over the whole width; clicking the lowest box shows everything again.
for (const flame of document.querySelectorAll(".flame")) {
  const boxes = [...flame.children].map(box => ({ box, left: parseFloat(box.style.left), width: parseFloat(box.style.width) }));
  flame.addEventListener("click", event => {
    const chosen = boxes.find(each => each.box === event.target);
    if (!chosen) return;
    for (const { box, left, width } of boxes) {
      const around = left <= chosen.left + 1e-4 && left + width >= chosen.left + chosen.width - 1e-4;
      const inside = left >= chosen.left - 1e-4 && left + width <= chosen.left + chosen.width + 1e-4;
      const lower = parseFloat(box.style.bottom) < parseFloat(chosen.box.style.bottom);
      box.hidden = lower ? !around : !inside;
      box.style.left = (lower ? 0 : (left - chosen.left) / chosen.width * 100) + "%";
      box.style.width = (lower ? 100 : width / chosen.width * 100) + "%";
    }
  });
}
