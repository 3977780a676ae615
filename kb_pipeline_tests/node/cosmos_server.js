// An Azure Cosmos DB account on loopback, in memory, for the tests.
// usage: node cosmos_server.js CERT KEY      prints the port it listens on; ends when its standard input does
//
// @vercel/cosmosdb-server differs from the service in two ways that matter to us. Both are put right here.
const fs = require("fs");

const handler = (name) => require(`@vercel/cosmosdb-server/lib/handler/${name}`);

// Reading what is not there is 404 in the service; the server dies of a TypeError and says 500.
const reading = handler("read-document");
const read = reading.default;
reading.default = (account, request, response, names) => {
  try {
    return read(account, request, response, names);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    response.statusCode = 404;
    return { code: "NotFound", message: "Entity with the specified id does not exist in the system." };
  }
};

// A batch is of the partition in its header, and all of it happens or nothing; the server looks for a partition in
// each operation, and keeps what it did before one failed.
const operations = handler("_document-operations");
handler("batch-documents").default = async (account, request, response, { dbId, collId }) => {
  const partitionKey = request.headers["x-ms-documentdb-partitionkey"];
  const batch = JSON.parse(await textOf(request));
  const collection = account.database(dbId).collection(collId);
  const { documents } = collection;
  const before = [new Map(documents._data), new Map(documents._index)];
  const results = [];
  for (const { operationType, ...input } of batch) {
    const operate = operations[`${operationType.toLowerCase()}Operation`];
    const { statusCode, body } = operate(collection, { partitionKey, ...input });
    results.push({ statusCode, requestCharge: 1, eTag: body && body._etag, resourceBody: body });
    if (statusCode >= 400) {
      [documents._data, documents._index] = before;
      response.statusCode = 207;
      return batch.map((_, place) => (place === results.length - 1 ? results[place] : { statusCode: 424 }));
    }
  }
  return results;
};

async function textOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const [, , cert, key] = process.argv;
const { createHttpsServer } = require("@vercel/cosmosdb-server");
const server = createHttpsServer({ cert: fs.readFileSync(cert), key: fs.readFileSync(key), keepAlive: true });
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit()).resume();
