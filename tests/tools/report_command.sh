#!/usr/bin/env bash
# What ran, what did not and what failed, from ledgers: status, page, JUnit XML, JSON and Markdown.
# usage: bash report_command.sh PATH_TO_BRINK
set -uo pipefail

brink="${1:?usage: report_command.sh PATH_TO_BRINK}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
seed=(--op softmax_backward --shape 1,2,2147483649 --axis 1)

# shellcheck source=tests/tools/expect.bash
source "$(dirname "${BASH_SOURCE[0]}")/expect.bash"

# reports STATUS FIRST_WORDS LEDGER...: every form at once; the summary's first line is FIRST_WORDS, and so is the page's.
reports() {
  local expected="$1" words="$2"
  shift 2
  ends "$expected" report "$@" -o "$folder/page.html" --junit "$folder/junit.xml" --json "$folder/report.json" \
    --markdown "$folder/report.md"
  [[ $(head -1 "$folder/out") == "$words" ]] || fail "the summary begins with \"$(head -1 "$folder/out")\", not \"$words\""
  [[ $(head -1 "$folder/report.md") == "### brink: $words" ]] || fail "the Markdown does not begin with \"$words\""
  [[ $(grep -o 'class="word">.*' "$folder/page.html" | sed 's/.*<\/span> //; s/<.*//') == "$words" ]] ||
    fail "the page's first words are not \"$words\""
  (($(wc -l <"$folder/report.md") < 60)) || fail "the Markdown is too long for a comment"
}

page_says() { grep -qF -- "$1" "$folder/page.html" || fail "the page does not say \"$1\""; }

# python EXPRESSION: true of the JSON report `j`, the JUnit root `x` and the page's text `page`; nothing without python3.
python() {
  python3 -c '' 2>/dev/null || return 0
  python3 - "$folder" "$1" <<'PYTHON' || fail "not true: $1"
import html.parser, json, sys, xml.etree.ElementTree
folder, expression = sys.argv[1:]

VOID = {"meta", "br", "link", "input", "img", "hr"}

class Page(html.parser.HTMLParser):
    """The structure that a reader of the page, or of its sound, needs."""
    def __init__(self):
        super().__init__()
        self.open, self.problems, self.headings, self.ids, self.links = [], [], [], set(), []
        self.in_svg = 0
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if tag == "svg": self.in_svg += 1
        if tag not in VOID: self.open.append(tag)
        if "id" in a:
            if a["id"] in self.ids: self.problems.append("id twice: " + a["id"])
            self.ids.add(a["id"])
        if tag == "html" and a.get("lang") != "en": self.problems.append("no language")
        if tag in ("h1", "h2", "h3", "h4"): self.headings.append(int(tag[1]))
        if tag == "th" and "scope" not in a: self.problems.append("a table header without scope")
        if tag == "svg" and a.get("role") == "img" and not a.get("aria-label"): self.problems.append("an unnamed picture")
        if tag == "svg" and a.get("role") != "img" and "aria-hidden" not in a: self.problems.append("a picture without role")
        if tag in ("script", "link", "img", "iframe"): self.problems.append("not self-contained: " + tag)
        if "href" in a: self.links.append(a["href"])
        if a.get("role") == "region" and not (a.get("aria-label") and a.get("tabindex") == "0"):
            self.problems.append("a region that no key reaches")
    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID: self.handle_endtag(tag)
    def handle_endtag(self, tag):
        if tag == "svg": self.in_svg -= 1
        if not self.open or self.open.pop() != tag: self.problems.append("not closed in order: " + tag)

page_text = open(folder + "/page.html", encoding="utf-8").read()
page = Page()
page.feed(page_text)
page.close()
if page.open: page.problems.append("left open: " + " ".join(page.open))
if page.headings[:1] != [1] or page.headings.count(1) != 1: page.problems.append("not one h1 at the start")
if any(b > a + 1 for a, b in zip(page.headings, page.headings[1:])): page.problems.append("a heading level is left out")
page.problems += ["leads nowhere: " + l for l in page.links if not (l.startswith("#") and l[1:] in page.ids)]
if "http" in page_text: page.problems.append("names the network")
if page.problems: print(page.problems[:5])
j = json.load(open(folder + "/report.json"))
x = xml.etree.ElementTree.parse(folder + "/junit.xml").getroot().find("testsuite")
count = lambda what: len(x.findall("./testcase/" + what))
whole = (int(x.get("tests")), int(x.get("failures")), int(x.get("errors")), int(x.get("skipped"))) == (
    len(x.findall("testcase")), count("failure"), count("error"), count("skipped"))
sys.exit(0 if not page.problems and whole and eval(expression) else 1)
PYTHON
}

# ---- A finding, what is right, and the one line that repeats it.
ends 1 run "${seed[@]}" --impl spatial/u32 --evidence "$folder/finding"
ends 0 run "${seed[@]}" --impl dispatched --evidence "$folder/ok"
reports 0 OK "$folder/ok"
python 'j["exit_status"] == 0 and j["launched"] == 1 and j["failed"] == 0 and count("failure") + count("error") == 0'
reports 1 FAILED "$folder/ok" "$folder/finding"
says "repeat: brink run --op softmax_backward --shape 1,2,2147483649 --axis 1"
page_says "softmax_backward spatial u32 element_offset mismatch"
page_says "4294967296 should land here"
page_says "2 elements: outer 0, dim 1, inner 2147483647..2147483648"
python 'j["launched"] == 2 and j["failed"] == 1 and count("failure") == 1 and j["launches"][0]["said_by"] == "kernel"'
python 'j["cells"]["counts"]["failed"] > 0 and "aria-label=\"The tensor" in page_text'

# A run of its own writes the same evidence but for its times.
ends 1 run "${seed[@]}" --impl spatial/u32 --evidence "$folder/again"
cmp -s <(sed 's/,"time":.*//' "$folder/finding") <(sed 's/,"time":.*//' "$folder/again") ||
  fail "two runs of one case differ in more than their times"

# ---- A cell that failed is failed whatever else reached it, and together with whichever other places.
only_start() { sed 's/ start,boundary,end"/ start"/g' "$1"; }
right() { sed 's/,"cause":.*,"time"/,"time"/; s/"observed":{"verdict":"mismatch"/"observed":{"verdict":"ok"/' "$1"; }
failed_cells() {
  ends 1 report "$@" --json "$folder/report.json"
  sed -n 's/.*"failed": *\([0-9]*\).*/\1/p' <(tr -d '\n' <"$folder/report.json" | grep -o '"cells".*')
}
only_start "$folder/finding" >"$folder/finding_at_start"
right "$folder/finding" >"$folder/right"
right "$folder/finding_at_start" >"$folder/right_at_start"
[[ $(failed_cells "$folder/finding" "$folder/right_at_start") == $(failed_cells "$folder/finding") ]] ||
  fail "a cell that failed is right because its start was right in another run"
[[ $(failed_cells "$folder/finding_at_start" "$folder/right") == $(failed_cells "$folder/finding_at_start") ]] ||
  fail "a start that failed is right because all places were right in another run"
(($(failed_cells "$folder/finding_at_start") < $(failed_cells "$folder/finding"))) || fail "the start alone is not fewer cells"

# ---- What was not executed comes first: no GPU, too little memory, a kernel that is never launched.
if "$brink" run --shape 2,3 --axis 1 --device cuda >/dev/null 2>&1; then
  # There is a GPU here: take it away.
  CUDA_VISIBLE_DEVICES="" "$brink" run "${seed[@]}" --device cuda --evidence "$folder/no_gpu" >/dev/null 2>&1
else
  ends 3 run "${seed[@]}" --device cuda --evidence "$folder/no_gpu"
fi
reports 3 "NOT EXECUTED" "$folder/no_gpu"
says "1 case had to run and did not: "
python 'j["launched"] == 0 and count("error") == 1 and count("skipped") == 0'

ends 3 run --shape 1,2,1000000000000 --axis 1 --memory dense --evidence "$folder/memory"
reports 3 "NOT EXECUTED" "$folder/memory" "$folder/ok"
says "1 case had to run and did not: "
page_says "1 case had to run and did not: "

ends 3 run "${seed[@]}" --impl no_launch --evidence "$folder/no_launch"
grep -qF "the kernel left no stamp" "$folder/out" || fail "run does not say that there is no stamp"
reports 3 "NOT EXECUTED" "$folder/no_launch"
says "the kernel left no stamp"
page_says "1 case had to run and did not: the kernel left no stamp"
python 'count("error") > 0 and count("skipped") == 0 and j["cells"]["counts"]["not_executed"] > 0'
ends 3 check --impl no_launch --cases 30 --seed 1 --evidence "$folder/check_no_launch"
reports 3 "NOT EXECUTED" "$folder/check_no_launch"
# A hole does not hide a finding, nor the other way round.
reports 1 FAILED "$folder/no_launch" "$folder/finding"
says "1 case had to run and did not"

# ---- A whole check: known defects that fail as predicted are no findings.
ends 0 check --seed 7 --cases 300 --evidence "$folder/check"
lines="$(wc -l <"$folder/check")"
((lines >= 300)) || fail "check of 300 cases left $lines lines"
ends 0 report "$folder/check" --json "$folder/report.json"
ends 0 check --seed 7 --cases 300 --evidence "$folder/check_again"
cmp -s <(sed 's/,"time":.*//' "$folder/check") <(sed 's/,"time":.*//' "$folder/check_again") ||
  fail "two checks with one seed differ in more than their times"
reports 0 OK "$folder/check" "$folder/check_again"
python 'j["examined"] == 2 * '"$lines"' and j["defects_as_predicted"] > 0 and j["cells"]["counts"]["known_defect"] > 0'

# ---- Ledgers that were cut off, cannot be read, or are not there.
head -c 700 "$folder/finding" >"$folder/torn"
reports 3 "NOT EXECUTED" "$folder/torn"
ends 0 run --shape 2,3 --axis 1 --evidence "$folder/torn"
reports 0 OK "$folder/torn"
says "1 line was cut off"
{ cat "$folder/ok" && printf 'nonsense\n' && cat "$folder/ok"; } >"$folder/broken"
reports 2 INCOMPLETE "$folder/broken"
[[ $(cat "$folder/err") == "brink: $folder/broken:2: not JSON"* ]] || fail "a broken line: $(cat "$folder/err")"
[[ $(wc -l <"$folder/err") == 1 ]] || fail "a broken line is not one line on standard error"
python 'j["launched"] == 2 and j["broken_lines"] == 1'
: >"$folder/empty"
reports 3 "NOT EXECUTED" "$folder/empty"
ends 2 report "$folder/not_there"
[[ $(wc -l <"$folder/err") == 1 ]] || fail "a missing ledger is not one line"
ends 2 report
ends 2 run --shape 2,3 --axis 1 --evidence "$folder/no/such/folder"
[[ $(cat "$folder/err") == *"$folder/no/such/folder: "* ]] || fail "evidence in a missing folder: $(cat "$folder/err")"

# ---- The page fits a narrow screen.
chromium="$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)"
if [[ -n $chromium ]]; then
  reports 1 FAILED "$folder/check" "$folder/finding" "$folder/no_launch"
  # A frame of 360 px around the page, which says how wide the page then is.
  cat >"$folder/frame.html" <<'HTML'
<!DOCTYPE html><title>waiting</title><iframe src="page.html" style="width:360px;height:640px;border:0"></iframe>
<script>onload = () => { const d = document.querySelector("iframe").contentDocument.documentElement;
document.body.innerHTML = "<p>page is " + d.scrollWidth + " of " + d.clientWidth + " wide</p>"; };</script>
HTML
  width="$(timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
    --user-data-dir="$folder/profile" --virtual-time-budget=5000 --dump-dom "file://$folder/frame.html" 2>/dev/null |
    grep -o 'page is [0-9]* of [0-9]* wide')"
  [[ $width =~ ^page\ is\ ([0-9]+)\ of\ ([0-9]+)\ wide$ ]] || fail "chromium did not show the page"
  ((${BASH_REMATCH[1]:-1} <= ${BASH_REMATCH[2]:-0})) || fail "at 360 px the page scrolls sideways: $width"
fi

if ((failures > 0)); then exit 1; fi
