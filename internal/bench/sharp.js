// Answers each path on standard input with the picture as fsmcp would show it:
// read from disk, within 2000 x 2000 pixels, in its own kind, in base64.
const fs = require('fs')
const readline = require('readline')
const sharp = require('sharp')

async function show(path) {
  let picture = sharp(fs.readFileSync(path)).rotate().resize(2000, 2000, { fit: 'inside', withoutEnlargement: true })
  picture = path.endsWith('.jpg') ? picture.jpeg({ quality: 80 }) : picture.png()
  return (await picture.toBuffer()).toString('base64')
}

process.stdout.write('ready\n')
readline.createInterface({ input: process.stdin }).on('line', async (path) => {
  process.stdout.write((await show(path)) + '\n')
})
