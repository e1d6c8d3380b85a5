#!/usr/bin/env bash
# The demo: two assistants answered the same 160 questions; which one is better, and can you be sure?
# Needs no network and no key: the judge's replies are recorded.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-build/demo}
data=examples/demo/data
mkdir -p "$out"
export EVALSI_DIR="$out/.evalsi"
rm -rf "$EVALSI_DIR"

evaluators=correctness,faithfulness,exact-match,contains,token-f1,rouge,numeric-match,refusal,pii-leak,latency
judge=(--judge-provider recorded --judge-recording "$data/judge_recording.jsonl")

for assistant in aster birch; do
  echo
  echo "== $assistant: 160 answers =="
  evalsi eval --data "$data/$assistant.jsonl" --evaluators "$evaluators" "${judge[@]}" \
    --name "$assistant" --output "$out/$assistant.json" --quiet
done

echo
echo "== is birch better than aster? (on the metric that was chosen before looking) =="
evalsi compare aster birch --metric correctness --flips 2 --report "$out/report.html"

command=$(command -v evalsi)
command=${command#"$PWD"/}  # make runs this with .venv/bin in front, a shell of yours does not
cat <<TEXT

The report: $out/report.html (one file, open it in a browser)

Try next:
  EVALSI_DIR=$out/.evalsi $command runs list
  EVALSI_DIR=$out/.evalsi $command report birch -o $out/birch.md
  $command eval --data $data/birch.jsonl --evaluators exact-match --where 'metadata.topic == "billing"'
  $command init my-evals
TEXT
