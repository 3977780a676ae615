// Reads text on pictures by Tesseract, compiled to WebAssembly: a picture in, a line of JSON out, until stdin ends.
// A picture is its number of bytes (4, big endian) and these bytes; the answer is its words: [text, left, top, right,
// bottom, number of the line]. The recognition data are those of the npm package, nothing is fetched.
const path = require("path");
const { createWorker } = require("tesseract.js");

const DATA = path.join(path.dirname(require.resolve("@tesseract.js-data/eng/package.json")), "4.0.0_best_int");
const OEM_LSTM = 1;

async function* pictures() {
  let read = Buffer.alloc(0);
  for await (const chunk of process.stdin) {
    read = Buffer.concat([read, chunk]);
    while (read.length >= 4 && read.length >= 4 + read.readUInt32BE(0)) {
      const end = 4 + read.readUInt32BE(0);
      yield read.subarray(4, end);
      read = read.subarray(end);
    }
  }
}

function wordsOf(blocks) {
  const lines = (blocks || []).flatMap((block) => block.paragraphs.flatMap((paragraph) => paragraph.lines));
  return lines.flatMap(({ words }, number) =>
    words.map(({ text, bbox: { x0, y0, x1, y1 } }) => [text, x0, y0, x1, y1, number]),
  );
}

async function main() {
  const worker = await createWorker("eng", OEM_LSTM, { langPath: DATA, cacheMethod: "none", gzip: true });
  for await (const picture of pictures()) {
    const { data } = await worker.recognize(picture, {}, { blocks: true, text: false });
    process.stdout.write(JSON.stringify(wordsOf(data.blocks)) + "\n");
  }
  await worker.terminate();
}

main();
