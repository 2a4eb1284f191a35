// node ci/kaitai.js FILE.ksy DIRECTORY: compiles a Kaitai Struct description to Python.
const fs = require("fs");
const compiler = require("kaitai-struct-compiler");
const yaml = require("js-yaml");

const [source, to] = process.argv.slice(2);
compiler.compile("python", yaml.load(fs.readFileSync(source, "utf8")), null, false)
    .then((files) => Object.entries(files).forEach(([name, text]) => fs.writeFileSync(`${to}/${name}`, text)))
    .catch((error) => { console.error(String(error)); process.exitCode = 1; });
