/* The style of the page: light and dark by the reader's choice; no line is wider than a telephone. */
#ifndef HPROF_CLI_STATS_PAGE_STYLE_H
#define HPROF_CLI_STATS_PAGE_STYLE_H

/* clang-format off */
static const char page_style[] =
    ":root{color-scheme:light dark;--back:#fff;--text:#1c1e21;--quiet:#5f6670;--line:#d9dde3;--panel:#f5f6f8;\n"
    "--good:#1a7f37;--bad:#c62828;\n"
    "--warn:#9a6700}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#15171a;--text:#e4e7eb;--quiet:#9aa3ae;--line:#343a42;--panel:#1e2125;\n"
    "--good:#4cc46a;\n"
    "--bad:#ff6b6b;--warn:#e3b341}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:70rem;padding:1rem;background:var(--back);color:var(--text);\n"
    "font:15px/1.45 system-ui,sans-serif}\n"
    "h1{font-size:1.3rem;overflow-wrap:anywhere;margin:.2rem 0}\n"
    "h2{font-size:1.05rem;margin:1.6rem 0 .4rem}\n"
    ".verdict{font-weight:600}.valid{color:var(--good)}.invalid{color:var(--bad)}.incomplete{color:var(--warn)}\n"
    ".facts,.note{color:var(--quiet);margin:.2rem 0}\n"
    ".map{margin-top:1.6rem;position:relative}\n"
    ".map svg{display:block;width:100%;height:5rem;border:1px solid var(--line)}\n"
    ".marks{position:relative;height:1rem}\n"
    ".mark{position:absolute;transform:translateX(-50%);text-decoration:none;line-height:1rem;font-size:.8rem}\n"
    ".error,.warning{white-space:nowrap}.error{color:var(--bad)}.warning{color:var(--warn)}\n"
    ".axis{display:flex;justify-content:space-between;color:var(--quiet);font:.8rem ui-monospace,monospace}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;margin:.6rem 0;list-style:none;font-size:.85rem}\n"
    ".legend i{display:inline-block;width:.8rem;height:.8rem;margin-right:.35rem;vertical-align:-.05rem}\n"
    ".scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}\n"
    "th,td{padding:.2rem .6rem .2rem 0;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}\n"
    "th{color:var(--quiet);font-weight:500;white-space:nowrap}\n"
    ".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    ".name{overflow-wrap:anywhere;min-width:9rem}\n"
    ".bar{width:22%;min-width:3rem}.bar b{display:block;height:.7rem;margin-top:.3rem;background:#4e79a7;min-width:1px}\n"
    "tr:target{background:var(--panel)}\n"
    "details{border-bottom:1px solid var(--line);padding:.25rem 0}summary{cursor:pointer;overflow-wrap:anywhere}\n"
    "pre{margin:.3rem 0 .3rem 1rem;font:.8rem/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}\n"
    "@media(max-width:600px){.bar{display:none}th,td{padding-right:.4rem}table{font-size:.78rem}.name{min-width:6rem}}\n"
    ".k0{fill:#4e79a7;background:#4e79a7}.k1{fill:#2f9e8f;background:#2f9e8f}.k2{fill:#8cd17d;background:#8cd17d}\n"
    ".k3{fill:#f28e2b;background:#f28e2b}.k4{fill:#edc948;background:#edc948}.k5{fill:#b07aa1;background:#b07aa1}\n"
    ".k6{fill:#9c755f;background:#9c755f}.k7{fill:#a9b0b8;background:#a9b0b8}.k8{fill:#e02020;background:#e02020}\n";
/* clang-format on */

#endif
