#!/bin/sh
# Rebuild static/vendor/codemirror from the versions in package.json: `sh scripts/codemirror/build.sh`. Needs node and npm.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/.*"@codemirror\/view": "\(.*\)",/\1/p' "$here/package.json")
target=$here/../../static/vendor/codemirror/$version
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cp "$here/package.json" "$here/entry.js" "$scratch"
cd "$scratch"
npm install --ignore-scripts --no-audit --no-fund --no-package-lock
npx esbuild entry.js --bundle --minify --format=iife --global-name=CodeMirror --target=es2020 --charset=utf8 \
    --legal-comments=none --outfile=codemirror.min.js
mkdir -p "$target"
cp codemirror.min.js "$target"
for file in node_modules/@codemirror/*/LICENSE node_modules/@lezer/*/LICENSE node_modules/@marijn/*/LICENSE \
    node_modules/crelt/LICENSE node_modules/style-mod/LICENSE node_modules/w3c-keyname/LICENSE; do
    folder=$(dirname "$file")
    echo "== ${folder#node_modules/} =="
    cat "$file"
    echo
done > "$target/LICENSE"
