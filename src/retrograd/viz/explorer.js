"use strict";
// The explorer of a recorded graph. What is drawn, and where in its box each part lies, comes with
// the page; heights are stacked here, since boxes are opened and closed. No part of the page comes
// from anywhere else, and texts of the program that recorded the graph are only ever shown as text.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { vertices, edges, boxes, sizes } = data;
  const element = id => document.getElementById(id);
  const canvas = element("canvas"), pen = canvas.getContext("2d");

  // ------------------------------------------------------------------ what follows from the data
  const depths = boxes.map(() => 0);
  const inner = boxes.map(() => []);
  const totals = boxes.map(() => ({ ops: 0, saved_bytes: 0, seconds: 0 }));
  boxes.forEach((box, number) => {
    if (number) {
      depths[number] = depths[box.parent] + 1;
      inner[box.parent].push(number);
    }
  });
  const boxesOf = vertices.map(() => []);  // a leaf may be drawn in several
  const ports = boxes.map(() => new Map());
  boxes.forEach((box, number) => box.parts.forEach(([kind, ref, x]) => {
    if (kind === "vertex") boxesOf[ref].push(number);
    if (kind === "in" || kind === "out") ports[number].set(`${kind} ${ref}`, x);
  }));
  vertices.forEach(vertex => {
    if (vertex.kind !== "op") return;
    for (let box = vertex.box || 0; box >= 0; box = boxes[box].parent) {
      totals[box].ops += 1;
      totals[box].saved_bytes += vertex.saved_bytes || 0;
      totals[box].seconds += vertex.seconds || 0;
    }
  });
  const into = vertices.map(() => []), outOf = vertices.map(() => []);
  edges.forEach(([source, target], edge) => {
    outOf[source].push(edge);
    into[target].push(edge);
  });
  const parameters = vertices.filter(vertex => vertex.kind === "parameter");
  const searched = vertices.map(vertex => [
    vertex.title, vertex.name, vertex.module, vertex.shape, vertex.dtype,
    vertex.kind === "cut" || vertex.kind === "unreached" ? "no gradient" : "",
    vertex.place ? `${vertex.place[0]}:${vertex.place[1]} ${vertex.place[3]}` : "",
  ].join(" ").toLowerCase());

  const bytes = count => {
    for (const unit of ["B", "KB", "MB"]) {
      if (count < 1000) return `${+count.toPrecision(3)} ${unit}`;
      count /= 1000;
    }
    return `${+count.toPrecision(3)} GB`;
  };
  const duration = seconds => seconds < 1e-3 ? `${+(seconds * 1e6).toPrecision(3)} µs`
    : seconds < 1 ? `${+(seconds * 1e3).toPrecision(3)} ms` : `${+seconds.toPrecision(3)} s`;
  const number = value => typeof value === "number" ? String(+value.toPrecision(4)) : value;
  const counted = (count, noun, ending = "s") =>
    `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : ending}`;

  // ------------------------------------------------------------------ where everything is
  const closed = new Set();
  let scene;

  function stack() {
    const heights = [], rowHeights = [];
    for (let at = boxes.length - 1; at >= 0; at--) {
      const box = boxes[at];
      const high = part => box.parts[part][0] === "box" ? heights[box.parts[part][1]]
        : box.parts[part][0] === "vertex" ? sizes.height : 0;
      rowHeights[at] = box.rows.map(row => Math.max(...row.map(high)));
      heights[at] = closed.has(at) ? sizes.closed : sum(rowHeights[at]) + sum(box.gaps)
        + (at ? sizes.title : sizes.padding) + sizes.padding;
    }
    scene = { boxes: [], vertices: [], lines: [], placeOf: new Map(), boxPlace: new Map() };
    place(0, 0, 0, heights, rowHeights);
    canvas.dataset.vertices = scene.vertices.length;
    canvas.dataset.closed = closed.size;
  }

  const sum = values => values.reduce((a, b) => a + b, 0);

  function place(at, x, top, heights, rowHeights) {
    const box = boxes[at], isClosed = closed.has(at);
    const spot = { at, x, top, bottom: top + heights[at], isClosed,
                   left: x - (isClosed ? box.closed / 2 : box.left),
                   right: x + (isClosed ? box.closed / 2 : box.right) };
    scene.boxes.push(spot);
    scene.boxPlace.set(at, spot);
    if (isClosed) return;
    let y = top + (at ? sizes.title : sizes.padding);
    const spots = [], bands = [];
    box.rows.forEach((row, number) => {
      const high = rowHeights[at][number];
      for (const part of row) {
        const [kind, ref, dx, left, right] = box.parts[part];
        const own = kind === "box" ? heights[ref] : kind === "vertex" ? sizes.height : 0;
        const upper = y + (high - own) / 2;
        spots[part] = { kind, ref, x: x + dx, top: upper, bottom: upper + own };
        bands[part] = [y, y + high];
        if (kind === "box") place(ref, x + dx, upper, heights, rowHeights);
        if (kind === "vertex") {
          const found = { ref, left: x + dx - left, right: x + dx + right, top: upper,
                          bottom: upper + own };
          scene.vertices.push(found);
          if (!scene.placeOf.has(ref)) scene.placeOf.set(ref, found);
        }
      }
      y += high + (box.gaps[number] || 0);
    });
    for (const [chain, source, served] of box.lines) {
      scene.lines.push(drawnLine(chain, source, served, spots, bands, spot));
    }
  }

  function entry(spot, kind, source) {
    if (spot.kind === "box" && !closed.has(spot.ref)) {
      return spot.x + ports[spot.ref].get(`${kind} ${source}`);
    }
    return spot.x;
  }

  function drawnLine(chain, source, served, spots, bands, around) {
    const path = new Path2D();
    let x = 0, y = 0, left = Infinity, right = -Infinity, top = 0;
    chain.forEach((part, step) => {
      const spot = spots[part], [upper, lower] = bands[part];
      if (step) {
        const toX = entry(spot, "in", source);
        const half = (y + upper) / 2;
        if (Math.abs(toX - x) > 0.05) path.bezierCurveTo(x, half, toX, half, toX, upper);
        else path.lineTo(toX, upper);
        x = toX;
        y = spot.kind === "out" ? around.bottom : spot.kind === "bend" ? lower : spot.top;
        path.lineTo(x, y);
      }
      if (step < chain.length - 1 && spot.kind !== "bend") {
        x = entry(spot, "out", source);
        y = spot.kind === "in" ? around.top : spot.bottom;
        if (!step) top = y;
        path.moveTo(x, y);
        path.lineTo(x, lower);
        y = lower;
      }
      left = Math.min(left, x);
      right = Math.max(right, x);
    });
    const end = spots[chain[chain.length - 1]];
    const hasTip = end.kind === "vertex" || (end.kind === "box" && closed.has(end.ref));
    const isFar = chain.length === 2 && bands[chain[1]][0] - bands[chain[0]][1] > 2 * sizes.height;
    return { path, source, served, left, right, top, bottom: y, isFar,
             tip: hasTip ? [x, y] : null };
  }

  // ------------------------------------------------------------------ drawing
  const view = { scale: 1, x: 0, y: 0 };
  let colors = {}, chosen = null, hovered = null, marked = new Set(), waiting = false;

  const isDark = () => (document.documentElement.dataset.theme
    || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

  function readColors() {
    const style = getComputedStyle(document.documentElement);
    colors = Object.fromEntries(
      data.colors.map(name => [name, style.getPropertyValue("--" + name)]));
  }

  function redraw() {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(() => { waiting = false; draw(); });
    }
  }

  function draw() {
    const ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    const pixels = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) {
      [canvas.width, canvas.height] = pixels;
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colors.page;
    pen.fillRect(0, 0, width, height);
    pen.translate(view.x, view.y);
    pen.scale(view.scale, view.scale);
    const seen = { left: -view.x / view.scale, top: -view.y / view.scale };
    seen.right = seen.left + width / view.scale;
    seen.bottom = seen.top + height / view.scale;
    const visible = it => it.right >= seen.left - 4 && it.left <= seen.right + 4
      && it.bottom >= seen.top && it.top <= seen.bottom;
    const bold = view.scale * 12 >= 5, small = view.scale * 10 >= 5;

    for (const spot of scene.boxes) if (spot.at && visible(spot)) drawBox(spot);
    const path = chosen && chosen.edges;
    pen.strokeStyle = pen.fillStyle = colors.line;
    pen.lineWidth = Math.max(1.3, 0.7 / view.scale);
    const shown = scene.lines.filter(visible), bright = [];
    for (const line of shown) {
      if (path && line.served.some(edge => path.has(edge))) bright.push(line);
      else {
        pen.globalAlpha = line.isFar ? 0.2 : 1;
        stroke(line, small);
      }
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = pen.fillStyle = colors.accent;
    pen.lineWidth = Math.max(2.4, 1.4 / view.scale);
    for (const line of bright) stroke(line, small);
    // The titles of boxes whose top is out of sight stay in sight, one below the other.
    const top = seen.top + 50 / view.scale;
    for (const spot of scene.boxes) {
      if (!spot.at || !visible(spot)) continue;
      const outer = scene.boxPlace.get(boxes[spot.at].parent);
      const least = outer.at && outer.titleTop > outer.top ? outer.titleTop + 18 : top;
      spot.titleTop = spot.isClosed ? spot.top
        : Math.min(Math.max(spot.top, least), spot.bottom - sizes.title);
      titleBox(spot, bold, small);
    }
    for (const spot of scene.vertices) if (visible(spot)) drawVertex(spot, bold, small);
  }

  function stroke(line, withTip) {
    pen.stroke(line.path);
    if (line.tip && withTip) {
      const [x, y] = line.tip;
      pen.beginPath();
      pen.moveTo(x - 3.2, y - 6.5);
      pen.lineTo(x, y);
      pen.lineTo(x + 3.2, y - 6.5);
      pen.fill();
    }
  }

  function rounded(spot, radius) {
    pen.beginPath();
    pen.roundRect(spot.left, spot.top, spot.right - spot.left, spot.bottom - spot.top, radius);
  }

  function drawBox(spot) {
    rounded(spot, 8);
    const isChosen = chosen && chosen.box === spot.at;
    pen.fillStyle = spot.isClosed ? heat(totals[spot.at]) || colors.page
      : depths[spot.at] % 2 ? colors.box : colors["box-deep"];
    pen.fill();
    pen.lineWidth = isChosen ? 2.5 : spot.isClosed ? 1.5 : 1;
    pen.strokeStyle = isChosen ? colors.accent : spot.isClosed ? colors["op-edge"]
      : hovered === spot ? colors.line : colors["box-edge"];
    pen.stroke();
    if (spot.isClosed) {  // a second edge: there is something inside
      pen.lineWidth = 1;
      pen.beginPath();
      pen.roundRect(spot.left + 3, spot.top + 3, spot.right - spot.left - 6,
                    spot.bottom - spot.top - 6, 6);
      pen.strokeStyle = colors["box-edge"];
      pen.stroke();
    }
  }

  function titleBox(spot, bold, small) {
    if (!bold) return;
    const box = boxes[spot.at];
    if (spot.isClosed) {
      write(box.title, spot.x, spot.top + 18, 12, true);
      if (small) write(box.more, spot.x, spot.top + 32, 10, false, colors.muted);
      return;
    }
    const y = spot.titleTop;
    pen.textAlign = "left";
    pen.lineJoin = "round";
    pen.lineWidth = 4;
    pen.strokeStyle = depths[spot.at] % 2 ? colors.box : colors["box-deep"];
    pen.font = `600 12px ${data.font}`;
    const width = pen.measureText(`▾ ${box.title}`).width;
    pen.strokeText(`▾ ${box.title}`, spot.left + 8, y + 16);
    pen.fillStyle = colors.ink;
    pen.fillText(`▾ ${box.title}`, spot.left + 8, y + 16);
    if (small && box.type && box.type !== box.name) {
      pen.font = `10px ${data.font}`;
      pen.strokeText(box.type, spot.left + 14 + width, y + 16);
      pen.fillStyle = colors.muted;
      pen.fillText(box.type, spot.left + 14 + width, y + 16);
    }
  }

  function drawVertex(spot, bold, small) {
    const vertex = vertices[spot.ref];
    const look = vertex.is_root ? "root" : vertex.kind === "unreached" ? "cut" : vertex.kind;
    rounded(spot, vertex.kind === "op" ? 5 : sizes.height / 2);
    pen.fillStyle = heat(vertex) || colors[bold ? look : look + "-edge"];
    pen.fill();
    const isChosen = chosen && chosen.vertex === spot.ref;
    if (marked.has(spot.ref) || isChosen) {
      pen.lineWidth = isChosen ? 7 : 5;
      pen.globalAlpha = isChosen ? 0.55 : 0.3;
      pen.strokeStyle = colors.accent;
      pen.stroke();
      pen.globalAlpha = 1;
    }
    pen.lineWidth = look === "cut" || look === "root" ? 1.8 : 1.2;
    pen.strokeStyle = isChosen ? colors.accent : hovered === spot ? colors.ink
      : colors[look + "-edge"];
    if (look === "cut") pen.setLineDash([5, 3]);
    pen.stroke();
    pen.setLineDash([]);
    if (!bold) return;
    const x = (spot.left + spot.right) / 2;
    write(vertex.label, x, spot.top + (vertex.shape && small ? 16 : 22), 12, true);
    if (small && vertex.shape) {
      const color = measures[measure].of ? colors.ink : colors.muted;
      write(vertex.shape, x, spot.top + 29, 10, false, color);
    }
  }

  function write(text, x, y, size, isBold, color) {
    pen.textAlign = "center";
    pen.font = `${isBold ? "600 " : ""}${size}px ${data.font}`;
    pen.fillStyle = color || colors.ink;
    pen.fillText(text, x, y);
  }

  // ------------------------------------------------------------------ colours by a measure
  const measures = {
    kind: { title: "kind" },
    saved: { title: "bytes saved", of: it => it.saved_bytes, text: bytes },
    norm: { title: "gradient norm", of: it => it.norm, text: number },
    seconds: { title: "time in backward", of: it => it.seconds, text: duration },
  };
  let measure = "kind";
  for (const [name, known] of Object.entries(measures)) {
    known.values = known.of
      ? vertices.map(known.of).filter(value => typeof value === "number" && value > 0) : [];
    if (name !== "kind" && !known.values.length) continue;
    known.low = known.values.reduce((a, b) => Math.min(a, b), Infinity);
    known.high = known.values.reduce((a, b) => Math.max(a, b), -Infinity);
    const option = document.createElement("option");
    option.value = name;
    option.textContent = known.title;
    element("colour").append(option);
  }

  function heat(it) {
    const known = measures[measure];
    const value = known.of && known.of(it);
    if (typeof value !== "number" || !(value > 0)) return known.of ? colors.op : null;
    const share = known.high > known.low
      ? Math.log(value / known.low) / Math.log(known.high / known.low) : 1;
    return ramp(Math.min(1, Math.max(0, share)));
  }

  const ramp = share => isDark()
    ? `hsl(${225 + 165 * share} ${40 + 25 * share}% ${25 + 12 * share}%)`
    : `hsl(${215 + 180 * share} ${70 + 20 * share}% ${94 - 20 * share}%)`;

  function drawLegend() {
    const legend = element("legend"), known = measures[measure];
    legend.replaceChildren();
    const add = (text, style, look) => {
      const item = document.createElement("span"), mark = document.createElement("i");
      Object.assign(mark.style, style);
      if (look) mark.className = look;
      item.append(mark, text);
      legend.append(item);
    };
    if (known.of) {
      const stops = [0, 0.25, 0.5, 0.75, 1].map(ramp).join(",");
      add(`${known.text(known.low)} – ${known.text(known.high)}`,
          { background: `linear-gradient(90deg,${stops})` }, "ramp");
      return;
    }
    const kinds = new Set(
      vertices.map(vertex => vertex.kind === "unreached" ? "cut" : vertex.kind));
    const words = { op: "op", parameter: "parameter", leaf: "other leaf", cut: "no gradient" };
    for (const [kind, word] of Object.entries(words)) {
      if (kinds.has(kind)) {
        add(word, { background: colors[kind], borderColor: colors[kind + "-edge"],
                    borderStyle: kind === "cut" ? "dashed" : "solid" });
      }
    }
    add("where backward starts", { background: colors.root, borderColor: colors["root-edge"] });
  }

  // ------------------------------------------------------------------ moving about
  function move(right, down) {
    view.x += right;
    view.y += down;
    redraw();
  }

  function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const scale = Math.min(4, Math.max(0.005, view.scale * factor));
    view.x = x - (x - view.x) * scale / view.scale;
    view.y = y - (y - view.y) * scale / view.scale;
    view.scale = scale;
    redraw();
  }

  function show(spot, most = 1.2, margin = 60) {
    const width = spot.right - spot.left + 2 * margin, height = spot.bottom - spot.top + 2 * margin;
    const panel = element("details").hidden || canvas.clientWidth < 720 ? 0 : 350;
    view.scale = Math.min(most, (canvas.clientWidth - panel) / width, canvas.clientHeight / height);
    view.scale = Math.max(view.scale, 0.005);
    view.x = (canvas.clientWidth - panel) / 2 - (spot.left + spot.right) / 2 * view.scale;
    view.y = canvas.clientHeight / 2 - (spot.top + spot.bottom) / 2 * view.scale;
    redraw();
  }

  const fit = () => show(scene.boxes[0], 1.4, 24);

  /** At first: everything if it can be read, else its beginning, as much as can be read of it. */
  function firstView() {
    fit();
    if (view.scale >= 0.6) return;
    const whole = scene.boxes[0], first = scene.vertices[0] || whole;
    const across = canvas.clientWidth / (whole.right - whole.left + 40);
    view.scale = Math.min(0.9, Math.max(across, 0.6));
    const middle = across >= 0.6 ? (whole.left + whole.right) / 2 : (first.left + first.right) / 2;
    view.x = canvas.clientWidth / 2 - middle * view.scale;
    view.y = 64 - whole.top * view.scale;
    redraw();
  }

  const pointers = new Map();
  let moved = 0, spread = 0;
  const at = event => {
    const frame = canvas.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at(event));
    moved = spread = 0;
  });
  canvas.addEventListener("pointermove", event => {
    const before = pointers.get(event.pointerId), now = at(event);
    if (!before) {
      hover(now);
      return;
    }
    pointers.set(event.pointerId, now);
    moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
    if (pointers.size === 2) {
      const [[ax, ay], [bx, by]] = [...pointers.values()];
      const apart = Math.hypot(ax - bx, ay - by);
      if (spread) zoom(apart / spread, (ax + bx) / 2, (ay + by) / 2);
      spread = apart;
    } else if (moved > 4) {
      canvas.classList.add("dragging");
      move(now[0] - before[0], now[1] - before[1]);
    }
  });
  const release = event => {
    if (pointers.delete(event.pointerId) && event.type === "pointerup" && moved <= 4) {
      const found = hit(at(event));
      if (!found) choose(null);
      else if (found.ref !== undefined) chooseVertex(found.ref, false);
      else chooseBox(found.at);
    }
    spread = 0;
    canvas.classList.remove("dragging");
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("dblclick", event => {
    const found = hit(at(event));
    if (found && found.at) toggle(found.at);
  });
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...at(event));
  }, { passive: false });

  function hit([x, y]) {
    const px = (x - view.x) / view.scale, py = (y - view.y) / view.scale;
    const inside = it => px >= it.left && px <= it.right && py >= it.top && py <= it.bottom;
    return scene.vertices.find(inside)
      || scene.boxes.slice(1).reverse().find(it => inside(it)
        && (it.isClosed || (py >= it.titleTop && py < it.titleTop + sizes.title)));
  }

  function hover(point) {
    const found = hit(point) || null;
    if (found !== hovered) {
      hovered = found;
      canvas.classList.toggle("pointing", !!found);
      canvas.title = !found ? "" : found.ref !== undefined ? vertices[found.ref].name
        : `${boxes[found.at].name}: double-click to ${found.isClosed ? "open" : "close"}`;
      redraw();
    }
  }

  // ------------------------------------------------------------------ opening and closing
  /** Change which boxes are closed; what lies at a box, if one is named, stays where it is seen. */
  function change(action, box) {
    const before = scene.boxPlace.get(box);
    action();
    stack();
    const after = scene.boxPlace.get(box);
    if (before && after) {
      view.x += (before.x - after.x) * view.scale;
      view.y += (before.top - after.top) * view.scale;
    }
    hovered = null;
    drawModules();
    redraw();
  }

  const toggle = box => {
    change(() => closed.has(box) ? closed.delete(box) : closed.add(box), box);
    if (chosen && chosen.box === box) chooseBox(box);
  };

  function reveal(box) {
    const around = [];
    for (let at = box; at > 0; at = boxes[at].parent) if (closed.has(at)) around.push(at);
    if (around.length) change(() => around.forEach(at => closed.delete(at)));
  }

  function closeAllBelow(depth) {
    closed.clear();
    depths.forEach((own, at) => { if (at && own > depth) closed.add(at); });
  }

  // ------------------------------------------------------------------ details
  function choose(what) {
    chosen = what;
    element("details").hidden = !what;
    if (!what) element("details-body").replaceChildren();
    redraw();
  }

  function node(tag, text, look) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (look) made.className = look;
    return made;
  }

  function facts(pairs) {
    const list = node("dl");
    for (const [name, value] of pairs) {
      if (value !== undefined && value !== null && value !== "") {
        list.append(node("dt", name), node("dd", value));
      }
    }
    return list;
  }

  function links(title, numbers) {
    const part = node("div");
    if (numbers.length) {
      const list = node("ul", undefined, "links");
      for (const ref of [...new Set(numbers)].slice(0, 40)) {
        const link = node("a", `${vertices[ref].title}  ${vertices[ref].shape || ""}`.trim());
        link.addEventListener("click", () => chooseVertex(ref, true));
        const item = node("li");
        item.append(link);
        list.append(item);
      }
      part.append(node("h3", title), list);
    }
    return part;
  }

  const kinds = { op: "op", parameter: "parameter", leaf: "leaf", cut: "cut point",
                  unreached: "parameter without a gradient" };

  function chooseVertex(ref, bringIntoView) {
    const vertex = vertices[ref];
    if (!scene.placeOf.has(ref) && boxesOf[ref].length) reveal(boxesOf[ref][0]);
    choose({ vertex: ref, edges: new Set([...into[ref], ...outOf[ref]]) });
    const isLeaf = vertex.kind !== "op";
    const body = element("details-body");
    body.replaceChildren(
      node("h2", vertex.title),
      node("div", kinds[vertex.kind] + (vertex.is_root ? ", where backward starts" : "")
        + ` · ${vertex.name}`, "kind"),
      ...(vertex.note ? [node("p", vertex.note, "note")] : []),
      facts([
        ["module", vertex.module],
        ["shape", vertex.shape],
        ["dtype", vertex.dtype],
        ["gradient norm", number(vertex.norm)],
        ["time forward", vertex.forward_seconds && duration(vertex.forward_seconds)],
        ["time in backward", vertex.seconds && duration(vertex.seconds)],
        ["saved", isLeaf ? "" : vertex.is_released ? "freed by a backward pass"
          : vertex.saved_bytes ? bytes(vertex.saved_bytes) : (vertex.saved || []).length
            ? "nothing that others do not hold" : "nothing"],
        ["uses", isLeaf && outOf[ref].length > 1 ? outOf[ref].length : ""],
      ]));
    if ((vertex.saved || []).length) {
      const table = node("table");
      for (const [name, shape, dtype, size] of vertex.saved) {
        const row = node("tr");
        row.append(...[name, shape, dtype, bytes(size)].map(text => node("td", text)));
        table.append(row);
      }
      body.append(node("h3", "Saved for backward"), table);
    }
    if (vertex.place) {
      const [file, line, where, text] = vertex.place;
      body.append(node("h3", vertex.kind === "cut" ? "Cut off here" : "Recorded here"),
                  node("div", `${file}, line ${line}, in ${where}`));
      if (text) body.append(node("pre", text));
    }
    body.append(links("Made of", into[ref].map(edge => edges[edge][0])),
                links("Used by", outOf[ref].map(edge => edges[edge][1])));
    if (bringIntoView && scene.placeOf.has(ref)) {
      show(scene.placeOf.get(ref), Math.max(view.scale, 0.9));
    }
  }

  function chooseBox(at) {
    const box = boxes[at], own = totals[at], isClosed = closed.has(at);
    const button = node("button", isClosed ? "Open" : "Close");
    button.id = "toggle-module";
    button.style.marginTop = "10px";
    button.addEventListener("click", () => toggle(at));
    choose({ box: at, edges: null });
    element("details-body").replaceChildren(
      node("h2", box.name), node("div", `module · ${box.type || "unknown class"}`, "kind"),
      facts([["ops", own.ops], ["saved", own.saved_bytes ? bytes(own.saved_bytes) : "nothing"],
             ["time in backward", own.seconds && duration(own.seconds)]]), button);
  }

  // ------------------------------------------------------------------ the list of modules

  function drawModules() {
    const list = at => inner[at].map(number => {
      const item = node("li"), row = node("div", undefined, "row");
      const sign = node("button", closed.has(number) ? "▸" : "▾");
      sign.title = closed.has(number) ? "Open in the drawing" : "Close in the drawing";
      sign.dataset.box = number;
      sign.addEventListener("click", () => toggle(number));
      const name = node("a", boxes[number].name + " ");
      if (boxes[number].type !== boxes[number].name) name.append(node("small", boxes[number].type));
      name.addEventListener("click", () => {
        reveal(boxes[number].parent);
        chooseBox(number);
        show(scene.boxPlace.get(number), Math.max(0.9, Math.min(view.scale, 1.2)));
      });
      row.append(sign, name);
      if (totals[number].ops) row.append(node("small", counted(totals[number].ops, "op")));
      item.append(row);
      if (!closed.has(number) && inner[number].length) {
        const below = node("ul");
        below.append(...list(number));
        item.append(below);
      }
      return item;
    });
    element("modules").replaceChildren(...list(0));
  }

  // ------------------------------------------------------------------ searching
  let matches = [], current = -1;

  function search(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    matches = words.length ? searched.flatMap((known, ref) =>
      words.every(word => known.includes(word)) ? [ref] : []) : [];
    const inTitle = ref => words.every(word => vertices[ref].title.toLowerCase().includes(word));
    matches = [...matches.filter(inTitle), ...matches.filter(ref => !inTitle(ref))];
    marked = new Set(matches);
    current = -1;
    element("found").textContent = words.length ? counted(matches.length, "match", "es") : "";
    element("results").hidden = !words.length;
    element("modules").hidden = !!words.length;
    element("results").replaceChildren(...matches.slice(0, 200).map((ref, place) => {
      const vertex = vertices[ref], item = node("li", `${vertex.title}  ${vertex.shape || ""}`);
      item.append(node("small", [vertex.module, vertex.name].filter(Boolean).join(" · ")));
      item.addEventListener("click", () => go(place));
      return item;
    }));
    redraw();
  }

  function go(place) {
    if (!matches.length) return;
    current = (place + matches.length) % matches.length;
    [...element("results").children].forEach((item, number) =>
      item.classList.toggle("current", number === current));
    const item = element("results").children[current];
    if (item) item.scrollIntoView({ block: "nearest" });
    chooseVertex(matches[current], true);
  }

  element("search").addEventListener("input", event => search(event.target.value));
  element("search").addEventListener("keydown", event => {
    if (event.key === "Enter") go(current + (event.shiftKey ? -1 : 1));
    if (event.key === "Escape") {
      event.target.value = "";
      search("");
    }
    event.stopPropagation();
  });

  // ------------------------------------------------------------------ buttons and keys
  element("fit").addEventListener("click", fit);
  element("zoom-in").addEventListener("click", () => zoom(1.3));
  element("zoom-out").addEventListener("click", () => zoom(1 / 1.3));
  element("open-all").addEventListener("click", () => { change(() => closed.clear()); fit(); });
  element("close-all").addEventListener("click", () => { change(() => closeAllBelow(0)); fit(); });
  element("close-details").addEventListener("click", () => choose(null));
  element("colour").addEventListener("change", event => {
    measure = event.target.value;
    drawLegend();
    redraw();
  });
  element("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    repaint();
  });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    const step = 60;
    const keys = {
      "/": () => element("search").focus(), Escape: () => choose(null), 0: fit, f: fit,
      "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3),
      ArrowLeft: () => move(step, 0), ArrowRight: () => move(-step, 0),
      ArrowUp: () => move(0, step), ArrowDown: () => move(0, -step),
    };
    if (keys[event.key]) {
      keys[event.key]();
      event.preventDefault();
    }
  });
  const repaint = () => { readColors(); drawLegend(); redraw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  // A page inside another one may get its size late.
  let isTouched = false;
  for (const kind of ["pointerdown", "wheel", "keydown"]) {
    document.addEventListener(kind, () => { isTouched = true; }, { capture: true, passive: true });
  }
  new ResizeObserver(() => isTouched || chosen ? redraw() : firstView()).observe(canvas);

  function warn(kind, words) {
    const found = vertices.flatMap((vertex, ref) => vertex.kind === kind ? [ref] : []);
    if (!found.length) return;
    let next = 0;
    const button = node("button", words(found.length));
    button.addEventListener("click", () => chooseVertex(found[next++ % found.length], true));
    element("warnings").append(button);
  }

  // ------------------------------------------------------------------ the beginning
  element("title").textContent = data.title;
  element("summary").textContent = [
    counted(totals[0].ops, "op"), counted(parameters.length, "parameter"),
    totals[0].saved_bytes ? `${bytes(totals[0].saved_bytes)} saved` : "",
    totals[0].seconds ? `backward ${duration(totals[0].seconds)}` : "",
  ].filter(Boolean).join(" · ");
  warn("cut", count => `${counted(count, "cut point")}: the graph ends there`);
  warn("unreached", count => `${counted(count, "parameter")} without a gradient`);
  const deepest = Math.max(...depths);
  for (let depth = deepest; depth >= 0; depth--) {
    closeAllBelow(depth);
    stack();
    if (scene.vertices.length <= 300) break;
  }
  readColors();
  drawModules();
  drawLegend();
  firstView();
  document.documentElement.dataset.ready = "yes";
})();
