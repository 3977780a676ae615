/* Makes tables fit the paper, so that no cell is cut off: smaller letters, then a sheet on its side, then words
   broken anywhere, at last as small as it takes. Widths are in CSS pixels; one layout of the page for each look. */
({ upright, sideways }) => {
  const looks = [["small", upright], ["small wide", sideways], ["small wide tight", sideways]];
  let tables = [...document.getElementsByTagName("table")];
  let room = upright;
  for (const [look, next] of looks) {
    tables = tables.filter((table) => table.offsetWidth > room);
    tables.forEach((table) => (table.className = look));
    room = next;
  }
  const scales = tables.map((table) => room / table.offsetWidth);
  tables.forEach((table, index) => scales[index] < 1 && (table.style.zoom = scales[index]));
}
