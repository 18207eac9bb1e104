// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_SOURCE_HPP
#define KPROF_REPORT_HTML_SOURCE_HPP

// The frame, style and script of the page that the output "html" writes. Made from the files in
// tools/page/ by cmake/embed_page.py: change those, not this file. Included by page.hpp.

#include <kprof/build_options.hpp>

#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr std::string_view page_frame = R"page(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title><!--kprof:title-->, kprof</title>
<style>
<!--kprof:style-->
</style>
</head>
<body>
<header id="bar">
<span class="brand"><b>kprof</b> <span id="program"></span></span>
<nav id="links" aria-label="Sections"></nav>
<button id="theme" type="button" aria-label="Switch between light and dark" title="theme (t)"
>&#x25D0;</button>
<button id="help" type="button" aria-label="Keys and words" title="keys and words (?)">?</button>
</header>
<main>
<section id="overview" aria-labelledby="sentence">
<p id="banner" role="note" hidden></p>
<p id="about"><!--kprof:about--></p>
<h1 id="sentence"><!--kprof:sentence--></h1>
<div id="facts"></div>
<div class="line"><h2 class="minor" id="share_title">Where the time goes</h2>
<div class="legend"></div></div>
<div id="share"></div>
<div class="two">
<div><div class="line"><h2 class="minor" id="first_title">Do first</h2>
<span id="first_sum" class="note"></span></div><ol id="advice"></ol></div>
<div><h2 class="minor">Can this be trusted?</h2><ul id="trust"></ul></div>
</div>
</section>
<section id="operators" aria-labelledby="operators_h">
<div class="head"><h2 id="operators_h">Operators</h2><span class="note" id="operators_n"></span>
<div class="tools" id="operators_t"></div></div>
<div id="operators_b"></div>
<noscript>
<!--kprof:table-->
</noscript>
</section>
<section id="roofline" aria-labelledby="roofline_h" hidden>
<div class="head"><h2 id="roofline_h">Roofline</h2><span class="note" id="roofline_n"></span>
<div class="tools" id="roofline_t"></div></div>
<div class="two wide"><div id="roofline_b"></div><div id="roofline_s"></div></div>
</section>
<section id="tree" aria-labelledby="tree_h" hidden>
<div class="head"><h2 id="tree_h">Call tree</h2><span class="note" id="tree_n"></span>
<div class="tools" id="tree_t"></div></div>
<div class="line" id="tree_l"></div>
<div id="tree_b"></div>
</section>
<section id="timeline" aria-labelledby="timeline_h" hidden>
<div class="head"><h2 id="timeline_h">Timeline</h2><span class="note" id="timeline_n"></span>
<div class="tools" id="timeline_t"></div></div>
<div id="timeline_b"></div>
</section>
<section id="steps" aria-labelledby="steps_h" hidden>
<div class="head"><h2 id="steps_h">Steps</h2><span class="note" id="steps_n"></span></div>
<div class="two wide"><div id="steps_b"></div><div id="steps_s"></div></div>
</section>
<section id="kernels" aria-labelledby="kernels_h" hidden>
<div class="head"><h2 id="kernels_h">Kernels</h2><span class="note" id="kernels_n"></span>
<div class="tools" id="kernels_t"></div></div>
<div id="kernels_b" class="scroll" role="group" tabindex="0" aria-labelledby="kernels_h"></div>
</section>
<section id="copies" aria-labelledby="copies_h" hidden>
<div class="head"><h2 id="copies_h">Copies</h2><span class="note" id="copies_n"></span></div>
<div id="copies_b" class="scroll" role="group" tabindex="0" aria-labelledby="copies_h"></div>
</section>
<section id="compare" aria-labelledby="compare_h" hidden>
<div class="head"><h2 id="compare_h"></h2><span class="note" id="compare_n"></span>
<div class="tools" id="compare_t"></div></div>
<p id="compare_s"></p>
<ul id="compare_w"></ul>
<div id="compare_b"></div>
</section>
<section id="missing" aria-labelledby="missing_h" hidden>
<div class="head"><h2 id="missing_h">Not in this report</h2></div>
<dl id="missing_b"></dl>
</section>
<section id="machine" aria-labelledby="machine_h" hidden>
<div class="head"><h2 id="machine_h">Machine and settings</h2></div>
<div id="machine_b" class="three"></div>
</section>
</main>
<footer id="foot"></footer>
<div id="tip" role="status" hidden></div>
<dialog id="keys" aria-labelledby="keys_h"></dialog>
<script type="application/json" id="data"><!--kprof:data--></script>
<script>
<!--kprof:script-->
</script>
</body>
</html>
)page";

inline constexpr std::string_view page_style[] = {
R"page(:root{--compute:#2b6fd8;--memory:#b86700;--latency:#862a7b;--unknown:#868f9c;--red:#c4262e;--ink:#14181f;--ink2:#454e5b;--ink3:#646d7a;--bg:#ffffff;--bg2:#f5f6f8;--line:#e2e5ea;--line2:#c5cbd4;--focus:#2b6fd8;--pale:26%;color-scheme:light;--text:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif;--code:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;--pad:40px}
:root[data-theme="dark"]{--compute:#6ea6ff;--memory:#f0a63a;--latency:#f3b0e4;--unknown:#768190;--red:#ff6b63;--ink:#e9ecf1;--ink2:#b3bbc7;--ink3:#8f99a7;--bg:#101317;--bg2:#181c22;--line:#282e37;--line2:#404854;--focus:#6ea6ff;--pale:32%;color-scheme:dark}
@media (prefers-color-scheme:dark){:root:not([data-theme="light"]){--compute:#6ea6ff;--memory:#f0a63a;--latency:#f3b0e4;--unknown:#768190;--red:#ff6b63;--ink:#e9ecf1;--ink2:#b3bbc7;--ink3:#8f99a7;--bg:#101317;--bg2:#181c22;--line:#282e37;--line2:#404854;--focus:#6ea6ff;--pale:32%;color-scheme:dark}
}
*{box-sizing:border-box}
[hidden]{display:none !important}
html{scroll-padding-top:64px;scroll-behavior:smooth;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:400 14px/20px var(--text);font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
h1,h2,h3,p,ol,ul,dl,dd{margin:0;padding:0}
ol,ul{list-style:none}
h1{font-size:32px;line-height:40px;font-weight:640;letter-spacing:-0.022em}
h1 span{color:var(--ink3)}
h2{font-size:20px;line-height:28px;font-weight:620;letter-spacing:-0.012em}
h3,h2.minor{font-size:13px;line-height:20px;font-weight:600;letter-spacing:0}
code,.code{font-family:var(--code);font-size:12px}
a{color:inherit;text-decoration-color:var(--line2);text-underline-offset:3px}
button,input,select{font:inherit;font-size:13px;color:inherit;background:none;border:1px solid var(--line);border-radius:6px;height:28px;padding:0 10px}
button{cursor:pointer}
button:hover{background:var(--bg2)}
:focus-visible{outline:2px solid var(--focus);outline-offset:1px}
main{max-width:1440px;margin:0 auto;padding:0 var(--pad) 56px}
section{padding-top:32px;margin-top:24px}
#overview{margin-top:0;padding-top:24px}
.note{color:var(--ink3);font-size:13px}
.strong{font-weight:600;color:var(--ink)}
.link{border:0;padding:0;height:auto;min-height:24px;text-decoration:underline;text-decoration-color:var(--line2);text-underline-offset:3px;border-radius:2px}
#bar{position:sticky;top:0;z-index:5;height:48px;display:flex;align-items:center;gap:12px;padding:0 max(var(--pad),calc((100vw - 1440px) / 2 + var(--pad)));background:var(--bg);border-bottom:1px solid var(--line)}
.brand{white-space:nowrap;color:var(--ink3);overflow:hidden;text-overflow:ellipsis;max-width:260px;flex:none}
.brand b{color:var(--ink)}
#links{display:flex;flex:1;gap:4px;overflow-x:auto;scrollbar-width:none;padding:4px}
#links a{padding:4px 9px;border-radius:6px;color:var(--ink2);font-size:13px;text-decoration:none;white-space:nowrap}
#links a:hover{background:var(--bg2)}
#links a[aria-current]{background:var(--bg2);color:var(--ink);font-weight:600}
#theme,#help{width:32px;padding:0;flex:none}
#about{color:var(--ink3);margin-bottom:8px;font-size:13px}
#banner{border:1px solid var(--red);border-left-width:4px;border-radius:6px;padding:10px 14px;margin-bottom:24px;background:color-mix(in srgb,var(--red) 7%,var(--bg))}
#facts{display:flex;margin:20px 0 24px;border:solid var(--line);border-width:1px 0}
#facts > div{flex:1 1 0;padding:12px 20px;border-left:1px solid var(--line);min-width:0}
#facts > div:first-child{border-left:0;padding-left:0}
#facts .label,#facts .basis{font-size:12px;line-height:16px;color:var(--ink3)}
#facts .basis{overflow:hidden;display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical}
#facts .value{font-size:20px;line-height:28px;font-weight:560;white-space:nowrap}
#facts .value svg{margin-left:8px;vertical-align:-2px}
.line{display:flex;gap:8px 24px;align-items:baseline;justify-content:space-between;flex-wrap:wrap;margin-bottom:6px;min-height:20px}
.legend{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:12px;line-height:16px;color:var(--ink2)}
.legend span{white-space:nowrap}
.sw.hatch{box-shadow:inset 0 0 0 1px var(--line2)}
.sw{display:inline-block;width:9px;height:9px;border-radius:2px;margin-right:6px}
.two{display:grid;grid-template-columns:minmax(0,1fr) 336px;gap:28px 56px;margin-top:28px}
.two.wide{margin-top:0}
.three{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:28px 48px}
.three .row,.facts .row{display:flex;justify-content:space-between;gap:16px;padding:6px 0;border-bottom:1px solid var(--line);font-size:13px}
.three .row span:first-child,.facts .row span:first-child{color:var(--ink2);flex:none}
.three .row span:last-child{text-align:right}
#share .axis{display:flex;justify-content:space-between;font-size:11px;line-height:14px;color:var(--ink3);padding-top:4px}
#share svg{display:block;width:100%}
#advice li{display:grid;grid-template-columns:24px minmax(0,1fr) 220px;gap:0 12px;padding:9px 0 11px;border-bottom:1px solid var(--line)}
#advice li:last-child{border-bottom:0}
#advice .rank{color:var(--ink3)}
#advice .what{font-weight:600}
#advice .do{color:var(--ink2)}
#advice .gain{text-align:right}
#advice .gain > *{white-space:nowrap}
#advice svg{display:block;width:100%;height:14px;margin-top:4px}
#advice .id{color:var(--ink3);font-size:12px;margin-left:6px}
#trust li{display:grid;grid-template-columns:18px 1fr;gap:6px;padding:7px 0;font-size:13px;border-bottom:1px solid var(--line);color:var(--ink2)}
#trust li:last-child{border-bottom:0}
#trust b{color:var(--ink);font-weight:600}
.bad{color:var(--red)}
.empty{border:1px dashed var(--line2);border-radius:6px;padding:12px 16px;color:var(--ink2)}
#missing_b{display:grid;grid-template-columns:180px 1fr 1.4fr;font-size:13px}
#missing_b > *{padding:7px 16px 7px 0;border-bottom:1px solid var(--line)}
#missing_b dt{font-weight:600}
#missing_b dd + dd{color:var(--ink3)}
#foot{max-width:1440px;margin:0 auto;padding:16px var(--pad) 40px;color:var(--ink3);font-size:12px}
#tip{position:fixed;z-index:9;max-width:340px;padding:8px 11px;pointer-events:none;background:var(--bg);border:1px solid var(--line2);border-radius:6px;font-size:12px;line-height:17px;color:var(--ink2)}
#tip b{color:var(--ink);display:block}
dialog{border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--ink);padding:20px 24px;max-width:520px}
dialog::backdrop{background:rgb(0 0 0 / 35%)}
dialog dl{display:grid;grid-template-columns:120px 1fr;gap:5px 12px;font-size:13px;margin:10px 0 14px}
kbd{font:12px var(--code);border:1px solid var(--line2);border-radius:4px;padding:0 5px}
)page",
R"page(.head{display:flex;align-items:center;flex-wrap:wrap;gap:6px 14px;margin-bottom:14px}
.head .note{flex:1 1 120px;padding-top:4px}
.tools{display:flex;flex-wrap:wrap;gap:8px;align-items:center}
.seg{display:inline-flex;border:1px solid var(--line);border-radius:6px;overflow:hidden}
.seg button{border:0;border-radius:0;height:26px;border-left:1px solid var(--line)}
.seg button:first-child{border-left:0}
.seg button[aria-pressed="true"]{background:var(--ink);color:var(--bg)}
.seg button:focus-visible{outline-offset:-2px}
.search{width:230px}
select.sort{display:none}
input[aria-invalid="true"]{border-color:var(--red)}
details.menu{position:relative}
details.menu summary{list-style:none;border:1px solid var(--line);border-radius:6px;height:28px;line-height:26px;padding:0 10px;font-size:13px;cursor:pointer}
details.menu summary::-webkit-details-marker{display:none}
details.menu > div{position:absolute;right:0;top:32px;z-index:4;background:var(--bg);border:1px solid var(--line2);border-radius:6px;padding:8px 12px;columns:2;column-gap:20px;width:330px;max-height:60vh;overflow:auto}
details.menu label{display:flex;gap:7px;align-items:center;min-height:24px;font-size:13px;break-inside:avoid}
input[type="checkbox"]{height:14px;width:14px;margin:0;accent-color:var(--ink)}
table{border-collapse:collapse;width:100%;font-size:13px;line-height:20px}
th,td{padding:3px 8px;text-align:left;font-weight:400;vertical-align:middle}
th:first-child,td:first-child{padding-left:0}
th:last-child,td:last-child{padding-right:0}
thead th{font-size:12px;line-height:16px;color:var(--ink2);vertical-align:bottom;background:var(--bg);border-bottom:1px solid var(--line2);padding-bottom:6px;white-space:nowrap}
thead th small{display:block;font-size:11px;line-height:14px;color:var(--ink3)}
thead th button{border:0;padding:0;height:auto;font-size:12px;line-height:16px;min-height:24px;text-align:inherit;border-radius:2px;white-space:nowrap}
thead th[aria-sort] button{color:var(--ink);font-weight:600}
.n{text-align:right;white-space:nowrap}
.dim{color:var(--ink3)}
noscript td,noscript th{border-bottom:1px solid var(--line)}
#advice li.empty{padding:12px 16px;border:1px dashed var(--line2)}
#ops thead th{position:sticky;top:48px;z-index:2}
#ops tr.group th,#ops tr.group td{padding-top:9px;padding-bottom:3px;border-top:1px solid var(--line)}
#ops tbody tr.group:first-child > *{border-top:0}
#ops tr.group th{font-weight:600}
#ops tr.group .note{font-weight:400;font-size:12px}
#ops tr.group button{border:0;padding:0 6px 0 0;font-weight:600;height:24px;line-height:22px;text-align:left;border-radius:2px}
#ops tr.group button:focus-visible{outline-offset:-2px}
#ops tr.row{cursor:pointer;height:26px}
#ops tr.row:hover > *,#ops tr.open > *,#ops tr.detail > td{background:var(--bg2)}
#ops tr.sel > *:first-child{box-shadow:inset 3px 0 0 var(--ink)}
#ops tr.detail > td:first-child{box-shadow:inset 3px 0 0 var(--ink)}
#ops tr.row > th{padding-left:20px}
#ops tr.off{opacity:0.35}
#ops tfoot td,#ops tfoot th{border-top:1px solid var(--line2);font-weight:600;height:34px}
#ops tfoot tr + tr > *{border-top:0;font-weight:400;color:var(--ink3)}
#ops th .cut,.cut{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
#ops tr.row button.cut{width:100%;height:auto;border:0;padding:0;border-radius:0;line-height:inherit;text-align:left;background:none}
#ops{table-layout:fixed}
td svg,th svg{display:block}
tr:focus-visible{outline-offset:-2px}
.detail td{padding:14px 20px 18px}
.detail .cols{display:grid;grid-template-columns:1.3fr 1fr 1.2fr;gap:20px 40px}
.detail dl{display:grid;grid-template-columns:auto 1fr;gap:2px 16px;margin-top:6px}
.detail dt{color:var(--ink3)}
.detail .go{display:flex;gap:16px;margin-top:10px}
svg text{font-family:var(--text);fill:var(--ink2);font-size:11px;font-variant-numeric:tabular-nums}
svg .halo{paint-order:stroke;stroke:var(--bg);stroke-width:3px;stroke-linejoin:round}
svg .ink{fill:var(--ink);font-weight:600}
.chart{display:block;width:100%;overflow:visible}
.chart .grid{stroke:var(--line)}
.chart [data-row]{cursor:pointer}
#roofline_s button.item,.items button{display:block;width:100%;height:auto;border:0;border-bottom:1px solid var(--line);border-radius:0;text-align:left;padding:8px 0}
#roofline_s button.item{line-height:20px}
#roofline_s .item span.r{float:right;padding-left:12px}
#roofline_s .item .note{display:block;font-size:12px}
#tree_b{position:relative}
#tree_b .box{position:absolute;overflow:hidden;cursor:pointer;text-align:left;border:0;border-radius:0;padding:3px 5px;font-size:12px;line-height:15px;white-space:nowrap;height:auto}
#tree_b .box.region{background:var(--bg2)}
#tree_b .box b{font-weight:600}
#tree_b .box i{font-style:normal;color:var(--ink2)}
#tree_b .box.op i{color:var(--ink)}
#tree_b .box u{position:absolute;left:0;bottom:0;text-decoration:none}
#tree_b .box.sel{outline:2px solid var(--ink);outline-offset:-2px;z-index:1}
#tree_b .box.thin.sel{outline:0;box-shadow:inset 0 5px 0 var(--ink)}
#tree_b .box.off{opacity:0.3}
#tree_b .hatch,.hatch{background:repeating-linear-gradient(135deg,var(--line2) 0 1px,transparent 1px 5px)}
.crumbs button{margin-right:4px}
#timeline_b canvas{display:block;width:100%;touch-action:pan-y;cursor:grab}
#timeline_b canvas:active{cursor:grabbing}
#timeline_b .strip{margin-bottom:8px;cursor:pointer;touch-action:none}
.items{max-width:620px}
.scroll{overflow-x:auto}
.scroll td,.scroll th{white-space:nowrap}
#kernels_b tbody tr,#copies_b tbody tr{border-bottom:1px solid var(--line)}
#kernels_b tbody tr.off{opacity:0.35}
#kernels_b tr.sel > *:first-child{box-shadow:inset 3px 0 0 var(--ink);padding-left:8px}
#kernels_b th{max-width:340px}
#kernels_b tr[data-row]{cursor:pointer}
.facts{margin-bottom:18px}
#compare_s{max-width:720px;margin-bottom:12px}
#compare_w{max-width:720px;font-size:13px;color:var(--ink2);margin-bottom:8px}
#compare_b table{table-layout:fixed}
#compare_b th,#compare_b td{padding-top:0;padding-bottom:0}
#compare_b .plot{padding:0}
#compare_b thead th{border-bottom:0;padding-bottom:4px}
#compare_b tbody th{padding-right:12px}
#compare_b .interval{padding-left:12px}
#compare_b .interval,#compare_b .verdict{white-space:nowrap}
#compare_b tr.total > th,#compare_b tr.total > .n{font-weight:600}
#compare_b tbody + tbody > tr:first-child > *{border-top:1px solid var(--line)}
#compare_b tr[data-row]{cursor:pointer}
#compare_b tr[data-row]:hover > *{background:var(--bg2)}
#compare_b tr.off{opacity:0.35}
#compare_b .of th{font-weight:600;padding:14px 0 6px}
#compare_b .of .note{font-weight:400}
#compare_b .new .change,#compare_b .gone .change{font-weight:600}
#compare_b tr.sel > th{box-shadow:inset 3px 0 0 var(--ink);padding-left:8px}
#compare_b .note{margin-top:12px;max-width:720px}
@media screen and (max-width:1200px){:root{--pad:24px}
.two{grid-template-columns:minmax(0,1fr) 280px;gap:28px 32px}
#advice li{grid-template-columns:20px minmax(0,1fr) 150px}
#facts > div{padding:12px}
.detail .cols{grid-template-columns:1fr 1fr;grid-template-rows:auto 1fr}
.detail .cols > :first-child{grid-row:span 2}
}
@media screen and (max-width:1000px){#facts .value svg{display:block;margin:2px 0 4px}}
@media screen and (max-width:820px){:root{--pad:16px}
h1{font-size:24px;line-height:30px}
.two,.three{grid-template-columns:minmax(0,1fr);gap:28px}
.brand span{display:none}
#facts{flex-wrap:wrap}
#facts > div{flex:1 1 50%;padding:10px 12px 10px 0;border-top:1px solid var(--line)}
#facts > div:nth-child(even){padding-left:12px}
#facts > div:nth-child(odd){border-left:0}
#facts > div:nth-child(-n + 2){border-top:0}
#advice li{grid-template-columns:18px minmax(0,1fr)}
#advice .side{grid-column:2;padding-top:4px}
#advice .gain{text-align:left}
.search{width:100%}
select.sort{display:block;background:var(--bg)}
.tools{width:100%}
.legend span{white-space:normal}
.tools{position:relative}
details.menu{position:static}
details.menu > div{right:auto;left:0;top:auto;margin-top:4px;width:min(330px,100%)}
.detail .cols{grid-template:auto / 1fr}
.detail .cols > :first-child{grid-row:auto}
.detail td{padding:12px}
#missing_b{grid-template-columns:1fr}
#missing_b > *{border:0;padding:2px 0}
#missing_b dt{border-top:1px solid var(--line);padding-top:8px}
#missing_b dd + dd{padding-bottom:8px}
}
@media screen and (max-width:820px),screen and (pointer:coarse){button,input,select,details.menu summary{height:36px;line-height:34px}
#theme,#help{width:36px}
.seg button{height:36px}
#ops tr.group button{height:36px;line-height:34px}
.link{height:auto;min-height:36px;line-height:20px}
#links a{padding:8px 9px}
#ops tr.row{height:36px}
details.menu label{min-height:36px}
thead th button{min-height:36px;height:auto}
}
@media screen and (max-width:820px){#ops,#ops tbody,#ops tfoot{display:block}
#ops thead{display:none}
#ops tr{display:grid;grid-template-columns:minmax(0,1fr) auto;padding:5px 0;border-top:1px solid var(--line)}
#ops tr.row{height:auto}
#ops tr > *{padding:1px 0;border:0;min-width:0}
#ops tr.group th,#ops tr.group td{border:0;padding:2px 0}
#ops tr > td:nth-child(3){grid-column:1 / 3}
#ops tr > td:nth-child(4){grid-column:2;grid-row:3}
#ops tr > td:nth-child(5){grid-column:1;grid-row:3}
#ops tr > td[colspan]{grid-column:1 / 3}
#ops tfoot tr > *{border:0;height:auto}
#ops td:empty{display:none}
#ops tr.row{padding:5px 8px;margin:0 -8px}
#ops tr.row > th{padding-left:0}
#ops tr.detail{margin:0 -8px;padding:0;border:0}
#ops tr.detail > td{padding:12px}
#ops tr.sel > *:first-child{box-shadow:none}
#ops tr.sel{box-shadow:inset 3px 0 0 var(--ink)}
#ops tr.row:hover,#ops tr.open{background:var(--bg2)}
#ops tr.row > th .cut{white-space:normal}
#ops tr > td:nth-child(2)::after{content:attr(data-unit);color:var(--ink3)}
#ops td svg{max-width:100%}
#compare_b table,#compare_b tbody,#compare_b thead{display:block}
#compare_b thead th{display:none}
#compare_b thead th.plot{display:block;padding:0}
#compare_b tbody tr{display:grid;grid-template-columns:minmax(0,1fr) auto;padding:6px 0;border-top:1px solid var(--line)}
#compare_b tbody tr > *{padding:0;border:0}
#compare_b tbody th{grid-column:1;grid-row:1;padding-right:12px}
#compare_b td.change{grid-column:2;grid-row:1}
#compare_b td.times{grid-column:1 / 3;grid-row:5;text-align:left}
#compare_b td.plain{grid-column:1 / 3;grid-row:4;text-align:left}
#compare_b td.plain::before{content:"plain "}
#compare_b td.plot{grid-column:1 / 3;grid-row:2}
#compare_b td.verdict{grid-column:1 / 3;grid-row:3;text-align:right}
#compare_b td.interval{grid-column:1 / 3;grid-row:3;padding:0}
#compare_b .new td.plot,#compare_b .gone td.plot{display:none}
#compare_b .new td:empty,#compare_b .gone td:empty{display:none}
#compare_b .of th{padding:12px 0 2px;grid-column:1 / 3}
#compare_b tbody + tbody > tr:first-child > *{border:0}
#compare_b tr.sel > th{padding-left:8px}
}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media print{@page{size:A4;margin:14mm 12mm}
:root{--pad:0}
body{font-size:11px;line-height:15px;-webkit-print-color-adjust:exact;print-color-adjust:exact}
#bar,.tools,#tip,.go,#foot button,#facts .value svg{display:none !important}
#ops th .cut{white-space:normal}
#ops td{padding:3px 4px}
#ops button,#advice button,#machine h3{font-size:inherit !important;line-height:inherit}
.head{break-after:avoid;margin-bottom:8px}
#foot{padding:8px 0 0}
.detail .cols{grid-template-columns:310px minmax(0,1fr);gap:12px 24px;grid-template-rows:auto 1fr}
.detail .cols > :first-child{grid-row:span 2}
.detail td{padding:8px 12px}
.scroll{overflow:visible}
.scroll table{font-size:8px}
.scroll th,.scroll td,.scroll .code{padding:3px;font-size:8px}
.scroll thead small{font-size:7px}
.three{gap:12px 24px}
.three .row{font-size:10px;padding:2px 0;line-height:13px}
main{padding-bottom:8px}
h1{font-size:22px;line-height:28px}
section{padding-top:12px;margin-top:8px}
#roofline,#tree,#timeline,#steps,#advice li,tr{break-inside:avoid}
.two,.two.wide{grid-template-columns:minmax(0,1fr) 190px;gap:16px 24px}
#facts .value{font-size:14px;line-height:20px}
#facts > div{padding:8px}
.note{font-size:11px;line-height:15px}
#advice li{grid-template-columns:16px minmax(0,1fr) 120px}
thead,tfoot{display:table-row-group}  /* on one page each;heads would lose their buttons */
#ops thead th{position:static}
#ops thead,#ops thead tr,#ops tr.group,#ops tr.open{break-after:avoid}
table{font-size:10px;line-height:13px}
}
@media (forced-colors:active){.sw,.box,svg rect{forced-color-adjust:none}
.seg button[aria-pressed="true"]{forced-color-adjust:none;background:Highlight;color:HighlightText}
#ops tr.sel,#kernels_b tr.sel{outline:2px solid Highlight;outline-offset:-2px}
}
)page",
};

inline constexpr std::string_view page_script[] = {
R"page("use strict";
(() => {
)page",
R"page(const data=JSON.parse(document.getElementById("data").textContent);
const byId=(id)=>document.getElementById(id);
const THIN="\u202f";
function grouped(text){const[whole,part]=text.split(".");
return whole.replace(/\B(?=(\d{3})+$)/g,",")+(part?"."+part:"")}
function three(x){if(x===null||!isFinite(x))return "n/a";
const minus=x<0?"\u2212":"";
const size=Math.abs(x);
if(size===0)return "0";
const decimals=size<0.9995?3:size<9.995?2:size<99.95?1:0;
if(size<0.0005)return "<0.001";
return minus+grouped(size.toFixed(decimals))}
function scaled(x,units){let at=0;
while(at+1<units.length&&Math.abs(x)/ units[at][0]>=999.5)at++;
return three(x / units[at][0])+THIN+units[at][1]}
const TIME=[[1,"ns"],[1e3,"µs"],[1e6,"ms"],[1e9,"s"]];
const time=(ns)=>(ns===null?"n/a":ns===0?"0"+THIN+"ns":scaled(ns,TIME));
const SI=[[1,""],[1e3,"k"],[1e6,"M"],[1e9,"G"],[1e12,"T"],[1e15,"P"],[1e18,"E"]];
const si=(x,unit)=>(x===null?"n/a":scaled(x,SI)+unit);
const count=(n)=>(n===null?"n/a":grouped(String(Math.round(n))));
function percent(x){if(x===null||!isFinite(x))return "n/a";
const text=x===0?"0":x<0.0005?"<0.1":grouped((100*x).toFixed(1));
return text+THIN+"%"}
const decimalsOf=(text)=>(text.includes(".")?text.length-text.indexOf(".")-1:0);
function padded(text,most){if(text==="n/a"||isNarrow())return text;
const have=decimalsOf(text);
return text+(have===0&&most>0?"\u2008":"")+
"\u2007".repeat(Math.max(0,most-have))}
const mostDecimals=(values)=>
values.reduce((most,x)=>(x===null?most:Math.max(most,decimalsOf(three(x)))),0);
function aligned(values){const most=mostDecimals(values);
return values.map((x)=>padded(x===null?"n/a":three(x),most))}
const nice=(text)=>
text.replace(/(\d) ?(%|(?:ns|µs|ms|s|[kMGTPE]?(?:FLOP|B)(?:\/s)?|[KMGT]iB)\b)/g,"$1"+THIN+"$2");
const fitting=(text)=>nice(text.replace(/\S{81,}/g,(word)=>middleCut(word,60)));
function timeUnit(values){const most=values.reduce((a,x)=>Math.max(a,x||0),0);
return most>=1e10?TIME[3]:most>=1e7?TIME[2]:most>=1e4?TIME[1]:TIME[0]}
const isObject=(x)=>x!==null&&typeof x==="object"&&!Array.isArray(x);
function decoded(table){const out={};
for(const[name,column]of Object.entries(table||{})){if(!isObject(column))out[name]=column;
else if("same" in column||"rising" in column)out[name]=listed(column);
else if(column.all)out[name]=textsOf(column);
else out[name]=decoded(column)}
for(const table of out.metrics?[out.metrics,out]:[])
for(const[name,column]of Object.entries(table))
if(typeof column==="string")table[name]=out.metrics[column];
return out}
function textsOf(column){const all=listed(column.all),ending=column.endings?listed(column.ending):null;
const whole=ending?all.map((text,i)=>text+column.endings[ending[i]]):all;
return listed(column.of).map((i)=>whole[i])}
const listed=(column)=>(!isObject(column)?column
:Array.from({length:column.count},(_,i)=>("same" in column?column.same
:column.rising+i)));
const rows=decoded(data.rows);
const total=decoded(data.total);
const metricOf=(row,id)=>(rows.metrics[id]?rows.metrics[id][row]:null);
const allRows=Array.from({length:rows.count},(_,i)=>i);
const byTime=(a,b)=>rows.time[b]-rows.time[a];
const paramsOf=(row)=>rows.brief[row]||rows.parameters[row];
const titleOf=(row)=>[rows.name[row],paramsOf(row),rows.pass[row]].filter(Boolean).join(" ");
const lostOf=(row)=>metricOf(row,"lost");
const HUES={compute:"compute",memory:"memory",cache:"memory",balanced:"memory",latency:"latency",launch:"latency","small grid":"latency",impossible:"red",};
const hueName=(bound)=>HUES[bound]||"unknown";
const hue=(bound)=>`var(--${hueName(bound)})`;
const pale=(bound)=>`color-mix(in srgb, ${hue(bound)} var(--pale), var(--bg))`;
function rgbOf(text){const hex=parseInt(text.trim().slice(1),16);
return[hex>>16,(hex>>8)&255,hex&255]}
function palette(){const style=getComputedStyle(document.documentElement);
const get=(name)=>style.getPropertyValue("--"+name).trim();
const part=parseFloat(get("pale"))/ 100;
const out={font:style.getPropertyValue("--text")};
const bg=rgbOf(get("bg"));
for(const name of["compute","memory","latency","unknown","red"]){const solid=rgbOf(get(name));
out[name]=get(name);
out[name+"_pale"]=
`rgb(${solid.map((c, i) => Math.round(c * part + bg[i] * (1 - part))).join(" ")})`}
for(const name of["ink","ink2","ink3","bg","bg2","line","line2"])out[name]=get(name);
return out}
function fill(node,attributes,children){for(const[name,value]of Object.entries(attributes||{})){if(value===null||value===undefined||value===false)continue;
if(name.startsWith("on"))node.addEventListener(name.slice(2),value);
else if(name==="style")node.style.cssText=value;
else node.setAttribute(name,value===true?"":value)}
for(const child of children.flat(Infinity))
if(child!==null&&child!==undefined&&child!==false)node.append(child);
return node}
const el=(tag,attributes,...children)=>
fill(document.createElement(tag),attributes,children);
const svg=(tag,attributes,...children)=>
fill(document.createElementNS("http://www.w3.org/2000/svg",tag),attributes,children);
const swatch=(bound)=>el("span",{class:"sw",style:`background:${hue(bound)}`});
function segmented(label,choices,chosen,choose){const box=el("div",{class:"seg",role:"group","aria-label":label});
const show=(now)=>{for(const button of box.children)
button.setAttribute("aria-pressed",String(button.dataset.value===now))};
for(const[value,text]of choices)
box.append(el("button",{type:"button","data-value":value,onclick:()=>{show(value);choose(value)}},text));
show(chosen);
box.show=show;
return box}
const listeners={};
const on=(event,f)=>(listeners[event]=listeners[event]||[]).push(f);
const tell=(event)=>(listeners[event]||[]).forEach((f)=>f());
const state={row:-1,match:null,filter:"",printing:false};
function select(row,keep){state.row=row===state.row&&!keep?-1:row;
const hash=state.row<0?"":"#row="+rows.key[state.row];
if(location.hash!==hash&&(hash||location.hash.startsWith("#row=")))
history.pushState(null,"",hash||location.pathname+location.search);
tell("select")}
function selectFromHash(){const found=/^#row=([0-9a-f]{10,16})$/.exec(location.hash);
state.row=found?rows.key.indexOf(found[1]):location.hash?state.row:-1;
tell("select")}
function setFilter(text){state.filter=text;
state.match=null;
let wanted=null;
try{wanted=text?new RegExp(text,"i"):null}catch{tell("filter");
return false}
if(wanted){state.match=new Uint8Array(rows.count);
for(const row of allRows)
state.match[row]=wanted.test(`${rows.name[row]} ${rows.parameters[row]} ${rows.brief[row]} ${rows.pass[row]} `+
`${rows.path[row]} ${(kernelsOfRow[row] || []).join(" ")}`)?1:0}
tell("filter");
return true}
const isOff=(row)=>state.match!==null&&(row<0||!state.match[row]);
const kernels=data.kernels?decoded(data.kernels):null;
const kernelsOfRow={};
if(kernels)
kernels.row.forEach((row,i)=>{kernelsOfRow[row]=kernelsOfRow[row]||[];
kernelsOfRow[row].push(kernels.name[i])});
const tip=byId("tip");
function showTip(event,head,lines){tip.replaceChildren(el("b",null,head),...lines.filter(Boolean).map((t)=>el("div",null,t)));
tip.hidden=false;
const box=tip.getBoundingClientRect();
const right=event.clientX+14+box.width>innerWidth;
const low=event.clientY+16+box.height>innerHeight;
tip.style.left=Math.max(4,right?event.clientX-box.width-10:event.clientX+14)+"px";
tip.style.top=(low?event.clientY-box.height-10:event.clientY+16)+"px"}
const hideTip=()=>{tip.hidden=true};
function tipOfRow(event,row){const roof=metricOf(row,"roof");
showTip(event,titleOf(row),[`${time(rows.time[row])}, ${percent(rows.time[row] / data.whole)} of the time`,roof===null?rows.why[row]:`${percent(roof)} of the roof, ${rows.bound[row] || "n/a"}`,lostOf(row)===null?"":`${time(lostOf(row))} lost above the roof`,])}
function standsFor(node,row){node.setAttribute("data-row",row);
node.addEventListener("click",(event)=>{event.stopPropagation();select(row)});
node.addEventListener("pointermove",(event)=>tipOfRow(event,row));
node.addEventListener("pointerleave",hideTip);
return node}
function goTo(id){byId(id).scrollIntoView()}
const isNarrow=()=>innerWidth<=820&&!state.printing;
const isTouched=()=>matchMedia("(pointer: coarse)").matches;
)page",
R"page(const groups=Object.fromEntries(Object.entries(data.groups).map(([name,table])=>[name,decoded(table)]));
function legend(...extra){const bounds=new Set(rows.bound.map(hueName));
const names={compute:"compute",memory:"memory, cache",latency:"latency, launch",red:"impossible",unknown:"unknown"};
return Object.keys(names).filter((name)=>bounds.has(name)||extra.includes(name))
.map((name)=>el("span",null,el("span",{class:"sw",style:`background:var(--${name})`}),(name==="red"?"▲ ":"")+names[name]))}
function solidLegend(){const main=allRows.filter((row)=>rows.needed[row]>0).sort(byTime)[0];
if(main===undefined)return[];
return[[hue(rows.bound[main]),"solid: needed at the roof, this machine's best"],[pale(rows.bound[main]),"pale: lost"]].map(([colour,text])=>
el("span",null,el("span",{class:"sw",style:`background:${colour}`}),text))}
function stepBars(){const steps=data.steps?data.steps.of.slice(-40):[];
if(steps.length<2)return null;
const counted=steps.filter((s)=>s[3]);
const times=(counted.length?counted:steps).map((s)=>s[2]).sort((a,b)=>a-b);
const most=Math.min(times[times.length-1],2*times[(times.length-1)>>1]);
const wide=Math.max(2,Math.min(6,Math.floor(110 / steps.length)));
return svg("svg",{width:steps.length*wide,height:18,"aria-hidden":"true"},steps.map((s,i)=>{const high=Math.max(1,Math.min(1,s[2]/ most)*18);
return svg("rect",{x:i*wide,y:18-high,width:wide-1,height:high,fill:"var(--line2)"})}))}
function showFacts(){byId("facts").replaceChildren(...data.facts.map(([label,value,basis],i)=>
el("div",null,el("div",{class:"label"},label),el("div",{class:"value"},nice(value),i===0?stepBars():null),el("div",{class:"basis",title:basis},nice(basis)))))}
function shareParts(){const table=groups.operator;
const parts=Array.from({length:table.count},(_,i)=>({name:table.name[i],ns:table.time[i],needed:table.needed[i],bound:table.bound[i],row:allRows.filter((row)=>rows.name[row]===table.name[i]).sort(byTime)[0],})).filter((p)=>p.ns>0).sort((a,b)=>b.ns-a.ns);
const inside=parts.reduce((sum,p)=>sum+p.ns,0);
const outside=data.whole-inside;
if(outside>0.001*data.whole)
parts.push({name:data.device?"no operator":"regions alone",ns:outside,needed:0,bound:"",row:-1});
if(data.idle>0)
parts.push({name:data.device?"idle":"outside scopes",ns:data.idle,idle:true,row:-1});
return parts}
function tipOfPart(event,part,all){showTip(event,part.name,[`${time(part.ns)}, ${percent(part.ns / all)}`,part.needed>0?`${time(part.needed)} of it at the roof`:"",part.bound?`bound: ${part.bound}`:""])}
function shareLines(parts,all){const most=Math.max(...parts.map((p)=>p.ns));
return parts.slice(0,8).map((p)=>el("div",{style:"margin-bottom:8px",onclick:()=>p.row>=0&&select(p.row)},el("div",{style:"display:flex;justify-content:space-between;gap:12px"},el("b",{title:p.name},middleCut(p.name,40)),el("span",{style:"white-space:nowrap"},[`${percent(p.ns / all)} · ${time(p.ns)}`,p.bound].filter(Boolean).join(", "))),el("div",{class:p.idle?"hatch":"",style:`height:9px;width:${100 * p.ns / most}%;` +
(p.idle?"":`background:${pale(p.bound)}`)},el("div",{style:`height:9px;width:${p.ns ? 100 * (p.needed || 0) / p.ns : 0}%;`+
`background:${hue(p.bound)}`}))))}
function showShare(){const parts=shareParts();
const all=parts.reduce((sum,p)=>sum+p.ns,0);
const box=byId("share");
if(!(all>0)){box.replaceChildren();return}
if(isNarrow()){box.replaceChildren(...shareLines(parts,all));return}
const wide=box.clientWidth,high=52;
const chart=svg("svg",{height:high,viewBox:`0 0 ${wide} ${high}`,role:"img","aria-label":`Shares of the time: ${parts.slice(0, 5)
.map((p) => `${p.name} ${percent(p.ns / all)}`).join(", ")}`},svg("defs",null,svg("pattern",{id:"hatch",width:6,height:6,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},svg("rect",{width:1,height:6,fill:"var(--line2)"}))));
let x=0;
for(const p of parts){const w=wide*p.ns / all;
const box1=svg("g",{opacity:p.row>=0&&isOff(p.row)?0.3:1});
const inner=Math.max(0.5,w-1);
box1.append(svg("rect",{x,y:0,width:inner,height:high,fill:p.idle?"url(#hatch)":pale(p.bound),stroke:p.row>=0&&state.row>=0&&rows.name[state.row]===p.name?"var(--ink)":null,"stroke-width":2}));
if(p.needed>0)
box1.append(svg("rect",{x,y:high-8,width:inner*p.needed / p.ns,height:8,fill:hue(p.bound)}));
addLabel(box1,p,x,w,all);
box1.addEventListener("pointermove",(event)=>tipOfPart(event,p,all));
box1.addEventListener("pointerleave",hideTip);
if(p.row>=0){box1.style.cursor="pointer";
box1.addEventListener("click",()=>{select(p.row,true)})}
chart.append(box1);
x +=w}
box.replaceChildren(chart,el("div",{class:"axis"},...[0,0.25,0.5,0.75,1].map((at)=>el("span",null,at?time(at*all):"0"))))}
function addLabel(box,part,x,w,all){const room=Math.floor((w-12)/ 6.9);
if(room<3)return;
const name=middleCut(part.name,room);
const share=percent(part.ns / all),text=[[share," · ",time(part.ns),", ",part.bound],[share," · ",time(part.ns)],[share]].filter((texts)=>texts.at(-1))
.map((texts)=>texts.join("")).find((t)=>t.length<=room+1)||"";
box.append(svg("text",{x:x+6,y:17,class:"ink"+(part.idle?" halo":""),style:"font-size:12px"},name));
if(text)
box.append(svg("text",{x:x+6,y:33,class:part.idle?"halo":"",style:"font-size:12px;fill:var(--ink)"},text))}
function staircase(advice,from){return svg("svg",{viewBox:"0 0 100 14",preserveAspectRatio:"none","aria-hidden":"true"},svg("rect",{x:0,y:6.5,width:100,height:1,fill:"var(--line2)"}),svg("rect",{x:100*from,y:2,width:Math.max(0.6,100*Math.min(1-from,advice.part)),height:10,fill:advice.row===undefined?"var(--latency)"
:hue(rows.bound[advice.row])}))}
function showAdvice(){const list=byId("advice");
if(data.advice.length===0){list.replaceChildren(el("li",{class:"empty",style:"display:block"},el("div",{class:"what"},!data.complete?"No advice: it would rest on what is missing."
:rows.count?"Nothing stands out.":"No operator ran."),data.total.metrics&&data.total.metrics.roof&&data.total.metrics.roof[0]===null
?"Advice needs formulas and ceilings: give operators flops() and bytes(), or take them "+
"from the catalogue, and let kprof ceilings measure the machine.":""));
return}
byId("first_sum").textContent=data.advice.some((a)=>a.gain>=0)?"may gain at most":"";
let from=0;
const scale=Math.max(1e-9,data.advice.reduce((sum,a)=>sum+Math.max(0,a.part),0));
list.replaceChildren(...data.advice.map((a,i)=>{const step={part:a.part / scale,row:a.row};
const line=el("li",{style:a.row===undefined?null:"cursor:pointer",onclick:a.row===undefined?null:()=>select(a.row,true)},el("span",{class:"rank"},String(i+1)),el("div",null,a.row===undefined?el("span",{class:"what"},fitting(`${a.where} ${a.fact}.`))
:el("button",{class:"link what",type:"button",style:"text-decoration:none;"+
"text-align:left;font-size:14px"},fitting(`${a.where} ${a.fact}.`)),el("div",{class:"do"},a.action?a.action.replace(/\.?$/,"."):"",el("span",{class:"id",title:"rule of advice, see docs/advice.md"},a.id))),el("div",{class:"side"},a.gain>=0
?[el("div",{class:"gain"},el("b",null,"≤ "+nice(a.gain_text))," ",el("span",{class:"note"},nice(a.share)+" of the run")),staircase(step,from)]
:el("div",{class:"gain note"},"gain not known")));
from +=step.part;
return line}))}
function showTrust(){const marks={ok:"✓",bad:"▲",none:"–"};
byId("trust").replaceChildren(...data.trust.map(([mark,what,rest])=>
el("li",null,el("span",{class:mark==="bad"?"bad":"note"},marks[mark]),el("span",null,el("b",null,nice(what))," "+fitting(rest)))))}
function showBanner(){const banner=byId("banner");
banner.hidden=data.complete;
if(data.complete)return;
const[,what,rest]=data.trust.find((line)=>line[0]==="bad")||["","",""];
banner.replaceChildren(el("b",null,"▲ Something is missing from this report. "+what)," " +
rest)}
function showOverview(){byId("program").textContent=data.program;
byId("about").textContent=nice(data.about);
byId("sentence").replaceChildren(data.complete?"":el("span",{class:"bad"},"▲ "),nice(data.first),el("br"),el("span",null,nice(data.second)));
document.querySelector("#overview .legend")
.replaceChildren(...legend(),...solidLegend());
showBanner();
showFacts();
showShare();
showAdvice();
showTrust()}
on("select",showShare);
on("filter",showShare);
on("resize",showShare);
showOverview();
)page",
R"page(const device=data.device;
const metricById=Object.fromEntries(data.metrics.map((m)=>[m.id,m]));
const HIST=18;
const inTable=(table,id,i)=>
id==="time"?table.time[i]:table.metrics[id]?table.metrics[id][i]:null;
const COLUMNS=[{id:"operator",label:"operator",width:0,text:true,always:true},{id:"pass",label:"pass",width:64,text:true},{id:"time",label:"time",width:78,unit:"time",title:device?metricById.device.meaning:metricById.self.meaning},{id:"bar",label:"share",small:"solid at the roof",width:180,draw:true,sort:"time"},{id:"lost",label:"lost",width:74,unit:"time"},{id:"calls",label:"calls",width:74},{id:"median",label:"median",width:78,unit:"time"},{id:"hist",label:"calls by time",width:92,draw:true,sort:"median",small:"log"},{id:"gflops",label:"rate",width:76,small:"GFLOP/s"},{id:"gbs",label:"traffic",width:66,small:"GB/s"},{id:"intensity",label:"FLOP/B",width:62},{id:"roof",label:"of the roof",width:118,draw:true},{id:"bound",label:"bound",width:112,text:true},];
const known=new Set(COLUMNS.map((c)=>c.id));
for(const id of["call_site","thread","dtype","path"])
COLUMNS.push({id,label:id.replace("_"," ").replace("path","region"),width:120,text:true,extra:true});
for(const m of data.metrics)
if(!known.has(m.id))
COLUMNS.push({id:m.id,label:m.label,width:82,extra:true,unit:m.unit==="ns"?"time":m.unit===""&&/share|cpu/.test(m.id)?"share":"",small:m.unit==="ns"?"":m.unit});
for(const c of COLUMNS)if(metricById[c.id])c.title=c.title||metricById[c.id].meaning;
const columnById=Object.fromEntries(COLUMNS.map((c)=>[c.id,c]));
function says(column){if(column.id==="operator")return true;
if(column.id==="bar")return true;
if(column.id==="hist")return rows.calls.length>0;
if(column.id==="bound")return rows.bound.some(Boolean);
if(column.text){const texts=rows[column.id]||[];
return new Set(texts).size>1||(column.extra&&Boolean(texts[0]))}
const values=column.id==="time"?rows.time:rows.metrics[column.id];
return Boolean(values)&&values.some((v)=>v!==null)}
const available=COLUMNS.filter(says);
const chosen=new Set(available.filter((c)=>!c.extra).map((c)=>c.id));
const NAME_PX=240,BAR_PX=180,SHORT_BAR_PX=120;
const LEFT_OUT=["intensity","gbs","calls","hist","median"];
const PHONE=new Set(["hist","gflops","gbs","intensity","calls","median","pass","lost"]);
function shownColumns(room){const gone=isNarrow()?PHONE
:state.printing?new Set(["intensity","gbs","calls","hist"]):new Set();
const shown=()=>available.filter((c)=>chosen.has(c.id)&&(c.asked||!gone.has(c.id)));
if(isNarrow()||state.printing)return shown();
const fits=()=>shown().reduce((sum,c)=>sum+c.width,NAME_PX)<=room;
const bar=columnById.bar;
bar.width=BAR_PX;
if(!fits())bar.width=SHORT_BAR_PX;
for(const id of LEFT_OUT)if(!fits())gone.add(id);
return shown()}
const units={};
for(const c of COLUMNS)
if(c.unit==="time")
units[c.id]=timeUnit(c.id==="time"?rows.time:rows.metrics[c.id]||[]);
const factor=(c)=>(c.unit==="time"?1 / units[c.id][0]:c.unit==="share"?100:1);
const smallOf=(c)=>(c.unit==="time"?units[c.id][1]:c.unit==="share"?"%":c.small||
"");
const wideOf=(c)=>(state.printing?0.7:1)*c.width;
const barWide=(c)=>(isNarrow()?Math.max(200,innerWidth-32):wideOf(c)-16);
const barScale=[...groups.operator.time,...rows.time].reduce((a,b)=>Math.max(a,b),1);
function barCell(ns,needed,bound,width){const wide=Math.max(ns>0?1.5:0,width*ns / barScale);
return svg("svg",{width,height:12,"aria-hidden":"true"},svg("rect",{width:wide,height:12,fill:pale(bound)}),svg("rect",{width:ns>0?wide*needed / ns:0,height:12,fill:hue(bound)}))}
function roofCell(roof,bound,most){if(roof===null)return el("span",{class:"dim"},"n/a");
const impossible=bound==="impossible";
return el("span",{style:"display:flex;align-items:center;justify-content:flex-end;gap:7px"},(impossible?"▲ ":most?"≤ ":"")+(roof<0.005?"<1":(100*roof).toFixed(0))+
THIN+"%",svg("svg",{width:52,height:7,"aria-hidden":"true"},svg("rect",{width:52,height:7,fill:"var(--line)"}),svg("rect",{width:52*Math.min(1,roof),height:7,fill:hue(bound)})))}
function boundCell(bound,why){if(!bound)return el("span",{class:"dim",title:why},"n/a");
return el("span",{style:"white-space:nowrap"},swatch(bound),(bound==="impossible"?"▲ ":"")+bound)}
function histogram(row,width,height){const calls=rows.calls[row];
const out=svg("svg",{width,height,"aria-hidden":"true"});
if(!calls||calls.length<2)return out;
if(calls[0]===0){const times=calls.slice(1),least=Math.log(Math.max(1,Math.min(...times)));
const span=Math.log(Math.max(1,...times))-least||1;
times.forEach((t,i)=>out.append(svg("circle",{fill:"var(--ink3)","fill-opacity":0.6,r:Math.min(4,height / 8),cy:height-4-(i % 3)*height / 5,cx:4+(width-8)*(Math.log(Math.max(1,t))-least)/ span})));
return out}
const most=Math.max(...calls.slice(1)),step=width / HIST;
calls.slice(1).forEach((n,i)=>{const high=n?Math.max(1,(height-1)*n / most):0;
out.append(svg("rect",{x:i*step,y:height-high,width:step-1,height:high,fill:"var(--ink3)"}))});
out.append(svg("rect",{y:height-0.5,width,height:0.5,fill:"var(--line2)"}));
return out}
const OVER_TIME_AXIS=60;
function placesOverTime(calls,width,height){const begins=calls.filter((_,i)=>i % 2===0);
const times=calls.filter((_,i)=>i % 2===1).map((ns)=>Math.max(1,ns));
const from=begins[0],span=begins[begins.length-1]-from||1;
const most=Math.max(...times),least=Math.min(...times);
const logs=most>20*least;
const share=(ns)=>(logs?Math.log(ns / least)/ Math.log(most / least):ns / most);
return times.map((ns,i)=>[4+(width-8)*(begins[i]-from)/ span,height-4-(height-8)*share(ns)])}
function overTime(row,width,height){const calls=rows.over_time[row];
if(!calls||calls.length<8)return null;
const out=svg("svg",{width,height,role:"img","aria-label":"time of some calls over the run"});
out.append(svg("rect",{y:height-0.5,width,height:0.5,fill:"var(--line2)"}));
const times=calls.filter((_,i)=>i % 2===1);
const most=Math.max(...times),least=Math.min(...times);
for(const[y,text]of[[10,time(most)],[height-4,most>20*Math.max(1,least)?time(least):"0"]])
out.append(svg("text",{x:width-2,y,"text-anchor":"end"},text));
placesOverTime(calls,width-OVER_TIME_AXIS,height).forEach(([cx,cy],i)=>out.append(svg("circle",{cx,cy,r:2.5,fill:"var(--ink3)","fill-opacity":0.7},svg("title",null,`${time(calls[2 * i + 1])} at ${time(calls[2 * i])}`))));
return out}
)page",
R"page(const table={group:"operator",sort:"",down:true,open:new Set(),wide:new Set(),shut:new Set(),body:null};
table.sort=rows.metrics.lost&&rows.metrics.lost.some((v)=>v!==null)?"lost":"time";
const FOLD_ROW=0.01,FOLD_GROUP=0.004,STEP=200,MOST_WRONG=20,MOST_MATCHING=60;
const MOST_LINES=400;
function sortValue(row){const column=columnById[table.sort];
if(column&&column.text)
return column.id==="operator"?titleOf(row):rows[column.id][row];
return inTable(rows,table.sort,row)}
function compare(a,b){const x=sortValue(a),y=sortValue(b);
if(x===y)return byTime(a,b);
if(x===null||x==="")return 1;
if(y===null||y==="")return-1;
const order=typeof x==="string"?(x<y?-1:1):y-x;
return table.down===(typeof x!=="string")?order:-order}
const groupText=(row)=>(table.group==="none"?"":table.group==="bound"
?rows.bound[row]||"n/a":rows[table.group==="operator"?"name":table.group][row]);
const neededBy=(list)=>list.reduce((sum,row)=>
sum+(rows.bound[row]==="impossible"?0:rows.needed[row]),0);
function groupedRows(){const found=new Map();
for(const row of allRows){if(isOff(row))continue;
const key=groupText(row);
if(!found.has(key))found.set(key,{key,rows:[]});
found.get(key).rows.push(row)}
const source=groups[table.group];
const text={operator:"name",pass:"pass",dtype:"dtype"}[table.group];
for(const group of found.values()){group.rows.sort(compare);
group.ns=group.rows.reduce((sum,row)=>sum+rows.time[row],0);
group.at=source&&!state.match?source[text].indexOf(group.key):-1;
group.needed=group.at>=0?source.needed[group.at]:neededBy(group.rows);
group.lead=group.rows[0]}
const out=[...found.values()];
if(table.sort==="lost"||table.sort==="time"){const of=(g)=>(table.sort==="time"?g.ns
:g.rows.reduce((sum,row)=>sum+(lostOf(row)||0),0));
out.sort((a,b)=>(table.down?of(b)-of(a):of(a)-of(b)))}else{out.sort((a,b)=>compare(a.lead,b.lead))}
return out}
function nameRoom(columns){if(state.printing)return 400;
if(isNarrow())return Math.floor((innerWidth-130)/ 8.4)+12;
const others=columns.reduce((sum,c)=>sum+(c.width?wideOf(c):0),0);
return Math.max(12,Math.floor((table.wide_px-others-28)/ 7.2))}
function cellsOf(columns,row){return columns.map((c)=>{if(c.id==="operator"){const short=paramsOf(row)||rows.name[row];
const name=table.group!=="operator"?titleOf(row)
:isNarrow()?[short,rows.pass[row]].filter(Boolean).join(" "):short;
return el("th",{scope:"row",title:`${rows.name[row]} ${rows.parameters[row]}`},el("button",{class:"cut",type:"button",tabindex:-1,"aria-expanded":String(table.open.has(row))},isNarrow()?name:middleCut(name,nameRoom(columns))))}
if(c.id==="bar")return el("td",null,barCell(rows.time[row],rows.needed[row],rows.bound[row],barWide(c)));
if(c.id==="hist")return el("td",null,histogram(row,c.width-16,20));
if(c.id==="roof")return el("td",{class:"n"},roofCell(metricOf(row,"roof"),rows.bound[row],rows.at_most[row]));
if(c.id==="bound")return el("td",null,boundCell(rows.bound[row],rows.why[row]));
if(c.text)return el("td",{title:rows[c.id][row]},el("span",{class:"cut"},rows[c.id][row]));
return numberCell(c,row)})}
function numberCell(c,row){const value=inTable(rows,c.id,row);
const minor=(c.id==="gflops"&&hueName(rows.bound[row])==="memory")||
(c.id==="gbs"&&hueName(rows.bound[row])==="compute")||c.id==="intensity";
return el("td",{class:"n"+(minor||value===null?" dim":""),"data-value":value,"data-id":c.id,"data-unit":isNarrow()?THIN+smallOf(c):null,title:value===null?rows.why[row]:grouped(String(value))+
(c.unit==="time"?" ns":"")},c.texts[row])}
function prepare(columns){for(const c of columns)
if(!c.text&&!c.draw&&c.narrow!==isNarrow()){c.narrow=isNarrow();
c.texts=c.id==="calls"||c.id==="kernels"||c.id==="copies"
?allRows.map((row)=>count(inTable(rows,c.id,row)))
:alignedColumn(c)}
}
function alignedColumn(c){const of=(source)=>Array.from({length:source.count},(_,i)=>inTable(source,c.id,i))
.map((value)=>(value===null?null:value*factor(c)));
const values=of(rows);
c.most=mostDecimals([...values,...of(groups.operator),...of(total)]);
return values.map((x)=>padded(x===null?"n/a":three(x),c.most))}
function sumCells(columns,group,values){return columns.map((c,i)=>{if(i===0)return null;
if(c.id==="time")return el("td",{class:"n","data-unit":isNarrow()?THIN+smallOf(c)
:null},padded(three(group.ns*factor(c)),c.most||0));
if(c.id==="bar")return el("td",null,group.isSum?null
:barCell(group.ns,group.needed,group.bound,barWide(c)));
const value=values?values(c):null;
if(c.id==="roof")return el("td",{class:"n"},value===null?"":roofCell(value,group.bound,false));
if(c.text||c.draw||value===null)return el("td");
const text=c.id==="calls"?count(value):padded(three(value*factor(c)),c.most||0);
return el("td",{class:"n"},text)}).slice(1)}
function groupRow(columns,group,inside){const source=groups[table.group];
group.bound=group.at>=0?source.bound[group.at]
:table.group==="bound"?group.key:"";
const additive=(c)=>{const m=metricById[c.id];
if(!m||(m.adds!=="sum"&&c.id!=="lost"))return null;
return group.rows.reduce((sum,row)=>sum+(inTable(rows,c.id,row)||0),0)};
const values=(c)=>(group.at>=0?inTable(source,c.id,group.at):additive(c));
const shut=table.shut.has(group.key);
return el("tr",{class:"group"},el("th",{scope:"rowgroup"},el("span",{class:"cut"},el("button",{type:"button","aria-expanded":String(!shut),onclick:()=>{if(!table.shut.delete(group.key))table.shut.add(group.key);
showTable(group.key)},"data-group":group.key,title:group.key},middleCut(group.key||"none",nameRoom(columns)-12)," ",shut?"▸":"▾"),el("span",{class:"note"},inside))),sumCells(columns,group,values))}
function moreRow(columns,hidden,step,expand){const group={ns:hidden.reduce((s,row)=>s+rows.time[row],0),needed:neededBy(hidden),bound:""};
const lost=hidden.reduce((s,row)=>s+(lostOf(row)||0),0);
const calls=hidden.reduce((s,row)=>s+(metricOf(row,"calls")||0),0);
const wrong=hidden.filter((row)=>rows.bound[row]==="impossible").length;
return el("tr",{class:"more dim"},el("th",{scope:"row",style:"padding-left:20px"},el("button",{class:"link",type:"button",onclick:expand},`… ${count(hidden.length)} more${wrong ? `, ▲ ${count(wrong)} above a roof` : ""}`)),sumCells(columns,group,(c)=>(c.id==="lost"?lost:c.id==="calls"?calls:null)))}
function rowOf(columns,row){const open=table.open.has(row);
return[el("tr",{class:`row${open ? " open" : ""}${row === state.row ? " sel" : ""}`,tabindex:0,"data-row":row},cellsOf(columns,row)),open?el("tr",{class:"detail"},el("td",{colspan:columns.length},detailOf(row)))
:null]}
function rowsOf(columns,group,body){const step=table.wide.has(group.key)?STEP:0;
const limit=FOLD_ROW*data.whole;
let impossible=0;
const isShownWrong=(row)=>rows.bound[row]==="impossible"&&++impossible<=MOST_WRONG;
const isAsked=(i)=>step&&i<step*(table.times?.[group.key]||1);
const keeps=(row,i)=>state.match!==null?isAsked(i)||body.rows.length<MOST_MATCHING
:i<1||rows.time[row]>=limit||isShownWrong(row)||
row===state.row||table.open.has(row)||isAsked(i);
const hidden=[];
group.rows.forEach((row,i)=>{if(keeps(row,i))body.append(...rowOf(columns,row).filter(Boolean));
else hidden.push(row)});
if(hidden.length)
body.append(moreRow(columns,hidden,step,()=>{table.wide.add(group.key);
table.times=table.times||{};
table.times[group.key]=(table.times[group.key]||0)+1;
showTable()}))}
function tableHead(columns){return el("thead",null,el("tr",null,columns.map((c)=>{const sort=c.sort||c.id,is=table.sort===sort&&!c.draw===!columnById[sort].draw;
return el("th",{scope:"col",class:c.text||c.id==="bar"||c.id==="hist"?"":"n",title:c.title,style:c.width?`width:${wideOf(c)}px`:null,"aria-sort":is?(table.down?"descending":"ascending"):null},el("button",{type:"button","data-sort":sort,onclick:()=>{table.down=table.sort===sort?!table.down:!(c.text);
if(table.sort!==sort&&c.text)table.down=false;
table.sort=sort;
showTable();
byId("ops").querySelector(`[data-sort="${sort}"]`).focus()}},c.label,is?(table.down?" ↓":" ↑"):""),smallOf(c)?el("small",null,smallOf(c)):null)})))}
function tableFoot(columns,sections){const shown=sections.flatMap((g)=>g.rows);
const all={ns:shown.reduce((s,row)=>s+rows.time[row],0),needed:0,bound:total.bound?total.bound[0]:"",isSum:true};
const values=state.match?null:(c)=>inTable(total,c.id,0);
const foot=[el("tr",null,el("th",{scope:"row"},state.match?"shown":"all operators"),sumCells(columns,all,values))];
const outside=data.whole-rows.time.reduce((s,t)=>s+t,0);
if(!state.match&&outside>0.0005*data.whole)
foot.push(el("tr",null,el("th",{scope:"row"},device?"in no operator"
:"in regions alone"),sumCells(columns,{ns:outside,needed:0,bound:"",isSum:true},null)));
return el("tfoot",null,foot)}
function showTable(group){const focused=document.activeElement?.closest?.("#ops tr[data-row]")?.dataset.row;
table.wide_px=byId("operators_b").clientWidth;
const columns=shownColumns(table.wide_px);
prepare(columns);
const sections=groupedRows(),body=el("tbody");
const small=sections.filter((g)=>g.ns<FOLD_GROUP*data.whole&&
!g.rows.some((row)=>rows.bound[row]==="impossible"||row===state.row));
const fold=state.match===null&&!table.wide.has("\n")&&small.length>2?new Set(small)
:null;
const rest=fold?small:[];
for(const g of sections){if(fold&&fold.has(g))continue;
if(state.match&&body.rows.length>=MOST_LINES&&!table.wide.has("\n")){rest.push(g);
continue}
if(table.group!=="none")
body.append(groupRow(columns,g,`${count(g.rows.length)} row${g.rows.length > 1 ? "s" : ""}`));
if(!table.shut.has(g.key))rowsOf(columns,g,body)}
if(rest.length)
body.append(moreRow(columns,rest.flatMap((g)=>g.rows),0,()=>{table.wide.add("\n");
showTable()}));
if(sections.length===0)
body.append(el("tr",null,el("td",{colspan:columns.length,style:"padding:20px 0"},rows.count?"No row matches. ":"No operator ran.",rows.count?el("button",{class:"link",type:"button",onclick:clearFilter},"clear")
:"")));
byId("operators_b").replaceChildren(el("table",{id:"ops"},tableHead(columns),body,rows.count?tableFoot(columns,sections):null));
if(focused!==undefined)byId("ops").querySelector(`tr[data-row="${focused}"]`)?.focus();
if(group!==undefined)
[...byId("ops").querySelectorAll("[data-group]")].find((b)=>
b.dataset.group===group)?.focus();
showCount(sections)}
function showCount(sections){const shown=sections.flatMap((g)=>g.rows);
const ns=shown.reduce((s,row)=>s+rows.time[row],0);
byId("operators_n").textContent=state.match
?`${count(shown.length)} of ${count(rows.count)} rows, ${time(ns)}`
:`${count(rows.count)} row${rows.count === 1 ? "" : "s"}, `+
`${device ? "device time" : "own time"} of the whole run`}
)page",
R"page(function fact(label,value){return value===null||value===undefined||value===""?[]
:[el("dt",null,label),el("dd",null,value)]}
function lead(row,section,css){select(row,true);
goTo(section);
byId(section).querySelector(css)?.focus({preventScroll:true})}
function timesOf(row){const calls=rows.calls[row];
if(!calls)return null;
const few=calls[0]===0;
const range=["min","median","max"].map((id)=>metricOf(row,id));
const p99=metricOf(row,"calls")>=100?metricOf(row,"p99"):null;
const what=few?`${calls.length - 1} calls, each one shown`:"calls by time, logarithmic";
return el("div",null,el("h3",null,what+(device?", on the host":"")),el("div",{style:"margin:8px 0 2px"},histogram(row,300,44)),el("div",{class:"note",style:"display:flex;justify-content:space-between;width:300px"},...["least","median","most"].map((word,i)=>
range[i]===null?null:el("span",null,`${word} ${time(range[i])}`))),p99===null?null:el("div",{class:"note"},`p99 ${time(p99)}`),metricOf(row,"first")===null?null
:el("div",{class:"note"},`first call ${time(metricOf(row, "first"))}`),...callsOverTime(row))}
function callsOverTime(row){const calls=rows.over_time[row],chart=overTime(row,300,64);
if(!chart)return[];
return[el("h3",{style:"margin-top:14px"},`${calls.length / 2} calls over the run, evenly drawn, and the slowest`),el("div",{style:"margin:8px 0 2px"},chart),el("div",{class:"note",style:"display:flex;justify-content:space-between;"+
`width:${300 - OVER_TIME_AXIS}px`},el("span",null,time(calls[0])),el("span",null,time(calls[calls.length-2])))]}
function detailOf(row){const roof=metricOf(row,"roof"),lost=lostOf(row),ideal=metricOf(row,"ideal");
const flops=rows.flops_call?rows.flops_call[row]:null;
const bytes=rows.bytes_call?rows.bytes_call[row]:null;
const took=ideal!==null&&lost!==null?ideal+lost:null;
const at80=took!==null&&roof<0.8?took-ideal / 0.8:null;
const kernel=(kernels?kernels.row:[]).indexOf(row);
const work=[flops===null?"":si(flops,"FLOP"),bytes===null?"":si(bytes,"B")]
.filter(Boolean).join(", ");
return el("div",{class:"cols"},timesOf(row),el("div",null,el("h3",null,"Against the roof"),el("dl",null,fact("work of a call",work),fact("needs",ideal===null?null:`${time(ideal)} in all, by ` +
(rows.of_memory[row]?"its bytes":"its FLOPs")),fact("took",took===null?null:`${time(took)}: ${percent(roof)} of the roof`),fact("lost",lost===null?null
:`${time(lost)}, ${percent(lost / data.whole)} of the time`),fact("if it reached 80 %",at80===null?null:`saves ${time(at80)}`),fact("no roof",roof===null?rows.why[row]:null)),el("div",{class:"go"},roofOfRow(row)?el("button",{class:"link",type:"button",onclick:()=>lead(row,"roofline",".item[aria-pressed=true]")},"in the roofline"):null,el("button",{class:"link",type:"button",onclick:()=>lead(row,"tree",".box.sel")},"in the tree"),data.timeline?el("button",{class:"link",type:"button",onclick:()=>{showSlowest(row);lead(row,"timeline","canvas[tabindex]")}},"slowest call"):null)),el("div",null,el("h3",null,"Where it comes from"),el("dl",null,fact("called at",rows.call_site[row]?el("code",null,rows.call_site[row]):null),fact("region",rows.path[row]),fact("parameters",rows.parameters[row]?el("code",null,rows.parameters[row]):null),fact("type",rows.dtype[row]),fact("thread",rows.thread[row]),kernel<0?[]:[fact("kernel",el("code",{title:kernels.name[kernel]},kernels.short[kernel])),fact("occupancy",kernels.occupancy[kernel]===null?kernels.limiter[kernel]
:`${percent(kernels.occupancy[kernel])}, limited by ${kernels.limiter[kernel]}`),fact("grid · block",kernels.grid[kernel]),fact("waves",kernels.waves[kernel]===null?null:three(kernels.waves[kernel])),])))}
function clearFilter(){byId("filter").value="";
applyFilter();
byId("filter").focus()}
function applyFilter(){const ok=setFilter(byId("filter").value);
byId("filter").setAttribute("aria-invalid",String(!ok));
if(!ok)byId("operators_n").textContent="not a regular expression"}
function columnMenu(){return el("details",{class:"menu"},el("summary",null,"Columns"),el("div",null,available.filter((c)=>!c.always).map((c)=>el("label",{title:c.title},el("input",{type:"checkbox",checked:chosen.has(c.id),onchange:(event)=>{c.asked=event.target.checked;
if(c.asked)chosen.add(c.id);
else chosen.delete(c.id);
showTable()}}),c.label))))}
function showTools(){const choices=[["operator","operator"]];
for(const key of["pass","dtype"])
if(new Set(rows[key]).size>1)choices.push([key,key==="dtype"?"type":key]);
if(rows.bound.some(Boolean))choices.push(["bound","bound"]);
if(new Set(rows.path).size>1)choices.push(["path","region"]);
choices.push(["none","none"]);
let waiting=0;
byId("operators_t").replaceChildren(el("input",{id:"filter",class:"search",type:"search",autocomplete:"off",spellcheck:"false",placeholder:"Filter: regular expression  /","aria-label":"Filter by a regular expression",onkeydown:(event)=>{if(event.key!=="ArrowDown")return;
event.preventDefault();
focusRow(1)},oninput:()=>{clearTimeout(waiting);
waiting=setTimeout(applyFilter,rows.count>2000?120:0)}}),segmented("Group by",choices,table.group,(value)=>{table.group=value;showTable()}),columnMenu(),sortMenu())}
function sortMenu(){const list=el("select",{class:"sort","aria-label":"Sort by",onchange:()=>{table.sort=list.value;
table.down=!columnById[list.value].text;
showTable()}},available.filter((c)=>!c.extra&&!c.draw).map((c)=>
el("option",{value:c.id,selected:c.id===table.sort},`by ${c.label}`)));
return list}
function toggleRow(row){if(!table.open.delete(row))table.open.add(row);
showTable()}
function focusRow(by){const lines=[...byId("ops").querySelectorAll("tr.row")];
const at=lines.indexOf(document.activeElement);
const next=lines[at<0?Math.max(0,lines.findIndex((l)=>+l.dataset.row===state.row))
:Math.max(0,Math.min(lines.length-1,at+by))];
if(next)next.focus()}
byId("operators_b").addEventListener("click",(event)=>{const line=event.target.closest("tr.row");
if(!line)return;
const row=+line.dataset.row;
line.focus();
state.row=-1;
const wasOpen=table.open.has(row);
if(wasOpen)table.open.delete(row);
else table.open.add(row);
select(wasOpen?-1:row,true)});
byId("operators_b").addEventListener("keydown",(event)=>{const line=event.target.closest("tr.row");
if(!line||event.target!==line)return;
if(event.key==="Enter"||event.key===" "){event.preventDefault();
line.click()}
if(event.key==="ArrowDown"||event.key==="ArrowUp"){event.preventDefault();
focusRow(event.key==="ArrowDown"?1:-1)}
});
on("select",()=>showTable());
on("filter",()=>showTable());
if(isNarrow())
for(const name of new Set(rows.name))table.shut.add(name);
let tableNarrow=innerWidth;
on("resize",()=>{if(innerWidth!==tableNarrow){tableNarrow=innerWidth;showTable()}});
)page",
R"page(const chart=decoded(data.roofline);
chart.x=chart.row.map((row)=>metricOf(row,"intensity"));
chart.y=chart.row.map((row)=>metricOf(row,"gflops")*1e9);
const pointOfRow=new Map(chart.row.map((row,i)=>[row,i]));
const roofOfRow=(row)=>pointOfRow.has(row);
const roofView={type:"",levelled:isNarrow(),device:0};
chart.devices=chart.devices.map(decoded);
const roofDevice=()=>chart.devices[roofView.device]||chart;
const timeAt=(i)=>(roofDevice().ns?roofDevice().ns[i]:rows.time[chart.row[i]]);
const typesOfPoints=[...new Set(chart.row.map((row)=>rows.dtype[row]).filter(Boolean))];
const MOST_POINTS=600,MOST_LABELS=60;
const decade=(x)=>(x>=1000?count(x):String(+x.toPrecision(1)));
const roofsShown=()=>(roofDevice().roofs.filter((r)=>!roofView.type||
r.name===roofView.type||r.name.startsWith(roofView.type+",")||
r.name.startsWith(roofView.type+" ")));
function frame(points){const xs=points.map((i)=>chart.x[i]),ys=points.map((i)=>chart.y[i]);
const ridge=roofDevice().roofs.map((r)=>r.flops / r.bytes);
const span=(values,least)=>{const low=Math.log10(Math.min(...values)),high=Math.log10(Math.max(...values));
const more=Math.max(0.3,0.075*(high-low),(least-(high-low))/ 2);
return[10**(low-more),10**(high+more)]};
const[x0,x1]=span([...xs,...ridge],2);
const[y0,y1]=span([...ys,...roofDevice().roofs.map((r)=>r.flops)],2);
return{x0,x1,y0,y1}}
function logTicks(low,high){const out=[];
const parts=Math.log10(high / low)<3?[1,2,5]:[1];
for(let power=Math.floor(Math.log10(low));10**power<=high;power++)
for(const part of parts)
if(part*10**power>=low&&part*10**power<=high)out.push(part*10**power);
return out}
function labeller(left,right,bottom){const taken=[];
const free=(box)=>box.x>=left&&box.x+box.w<=right&&box.y+box.h<=bottom&&
taken.every((t)=>box.x>t.x+t.w||t.x>box.x+box.w||box.y>t.y+t.h||
t.y>box.y+box.h);
return{block(x,y,w,h){taken.push({x,y,w,h})},free,place(text,x,y,r){const w=text.length*6+4;
for(const[px,py]of[[x+r+4,y-7],[x-r-4-w,y-7],[x-w / 2,y-r-17],[x-w / 2,y+r+3]]){const box={x:px,y:py,w,h:14};
if(!free(box))continue;
taken.push(box);
return box}
return null},}}
function roofLines(f,px,py,right){const out=svg("g",{"clip-path":"url(#plot)",fill:"none"});
const labels=svg("g");
const shown=roofsShown(),main=[...shown].sort((a,b)=>b.flops-a.flops)[0];
const ends=[];
const line=(flops,bytes,attributes)=>{const ridge=flops / bytes;
out.append(svg("path",{d:`M${px(f.x0)} ${py(f.x0 * bytes)}L${px(ridge)} ${py(flops)}`+
`L${px(f.x1)} ${py(flops)}`,...attributes}))};
if(main){out.append(svg("path",{fill:"var(--bg2)",d:`M${px(f.x0)} ${py(f.x0 * main.bytes)}`+
`L${px(main.flops / main.bytes)} ${py(main.flops)}L${px(f.x1)} ${py(main.flops)}`+
`L${px(f.x1)} ${py(f.y0)}L${px(f.x0)} ${py(f.y0)}Z`}));
for(const part of[0.5,0.1])
line(main.flops*part,main.bytes*part,{stroke:"var(--line2)","stroke-dasharray":"1 4"})}
for(const s of roofDevice().slopes)
if(main&&s.bytes>0)line(main.flops,s.bytes,{stroke:"var(--ink)","stroke-opacity":0.35,"stroke-dasharray":s.table?"5 4":null});
for(const r of shown){line(r.flops,r.bytes,{stroke:"var(--ink)","stroke-width":r===main?2:1,"stroke-opacity":r===main?1:0.4});
ends.push([py(r.flops),`${r.name} ${si(r.flops, "")}`,r===main])}
let last=-20;
for(const[y,text,isMain]of ends.sort((a,b)=>a[0]-b[0])){const at=Math.max(y+4,last+13);
last=at;
labels.append(svg("text",{x:right+6,y:at,class:isMain?"ink":""},text))}
return{out,labels,main}}
function slopeLabels(f,px,py,main,labels){const out=svg("g");
if(!main)return out;
const list=[...roofDevice().slopes.map((s)=>[s.name,s.bytes]),[device?"memory":"DRAM",main.bytes]];
const wide=px(10)-px(1),turn=Math.atan2(py(1)-py(10),wide);
for(const[name,bytes]of list.sort((a,b)=>b[1]-a[1])){const text=`${name} ${si(bytes, "B/s")}`,long=6*text.length+8;
const last=main.flops / bytes / 10**(long*Math.cos(turn)/ wide);
const first=Math.max(f.x0,f.y0 / bytes)*10**0.1;
for(let x=first;x<=last;x*=10**(10 / wide)){const boxes=[];
for(let at=0;at<=long;at +=10)
boxes.push({x:px(x)+at*Math.cos(turn)-5,w:10,h:15,y:py(x*bytes)-at*Math.sin(turn)-17});
if(!boxes.every(labels.free))continue;
boxes.forEach((box)=>labels.block(box.x,box.y,box.w,box.h));
out.append(svg("text",{class:"halo",transform:
`translate(${px(x)} ${py(x * bytes) - 5}) rotate(${-turn * 180 / Math.PI})`},text));
break}
}
return out}
function blockBubbles(points,px,yOf,radius,labels){for(const i of points){const r=0.75*radius(i);
labels.block(px(chart.x[i])-r,yOf(i)-r,2*r,2*r)}
}
function bubbles(points,px,yOf,radius,labels,selectedLine){const out=svg("g"),names=svg("g"),seen=new Set();
const isChosen=(i)=>chart.row[i]===state.row;
const order=[...points].sort((a,b)=>isChosen(a)-isChosen(b)||
timeAt(b)-timeAt(a));
for(const i of order){const row=chart.row[i],x=px(chart.x[i]),y=yOf(i),r=radius(i);
const wrong=rows.bound[row]==="impossible",chosenNow=row===state.row;
out.append(standsFor(svg("circle",{cx:x,cy:y,r,fill:wrong?"none"
:hue(rows.bound[row]),"fill-opacity":0.55,opacity:isOff(row)?0.15:1,stroke:wrong?"var(--red)":chosenNow?"var(--ink)":"var(--bg)","stroke-width":chosenNow||wrong?2:1,"stroke-dasharray":wrong?"3 2":null,tabindex:-1}),row));
if(chosenNow)out.append(selectedLine(i,x,y))}
const urgent=[...points].sort((a,b)=>lostOf(chart.row[b])-lostOf(chart.row[a]));
const chosenFirst=urgent.sort((a,b)=>
(chart.row[b]===state.row)-(chart.row[a]===state.row));
for(const i of chosenFirst.slice(0,MOST_LABELS)){const row=chart.row[i],key=rows.name[row]+rows.pass[row];
if(isOff(row)||(seen.has(key)&&row!==state.row))continue;
const name=[rows.name[row],rows.pass[row]].filter(Boolean).join(" ");
const text=(rows.bound[row]==="impossible"?"▲ ":"")+middleCut(name,28);
const box=labels.place(text,px(chart.x[i]),yOf(i),radius(i));
if(!box)continue;
seen.add(key);
names.append(svg("text",{x:box.x+2,y:box.y+11,"pointer-events":"none",class:"halo"+(row===state.row?" ink":"")},text))}
return[out,names]}
function axes(f,px,bottom,left,right,yTicks,top){const out=svg("g");
for(const x of logTicks(f.x0,f.x1))
out.append(svg("line",{x1:px(x),x2:px(x),y1:top,y2:bottom,class:"grid"}),svg("text",{x:px(x),y:bottom+16,"text-anchor":"middle"},decade(x)));
for(const[y,text]of yTicks)
out.append(svg("line",{x1:left,x2:right,y1:y,y2:y,class:"grid"}),svg("text",{x:left-7,y:y+4,"text-anchor":"end"},text));
out.append(svg("text",{x:right,y:bottom+31,"text-anchor":"end"},"FLOP per byte"));
return out}
function showRoofline(){const ofType=chart.row.map((_,i)=>i).filter((i)=>timeAt(i)>0&&(!roofView.type||
rows.dtype[chart.row[i]]===roofView.type)).sort((a,b)=>timeAt(b)-timeAt(a));
const points=ofType.filter((i,at)=>at<MOST_POINTS||chart.row[i]===state.row);
const undrawn=ofType.length-points.length;
byId("roofline").hidden=chart.row.length===0;
if(chart.row.length===0)return;
const box=byId("roofline_b"),width=Math.max(280,box.clientWidth);
const levelled=roofView.levelled,roofs=roofDevice().roofs.length>0;
const narrow=width<560,high=narrow?340:levelled||roofs?470:300;
const left=50,top=24,bottom=high-40;
const right=width-(levelled||narrow||!roofs?10:140);
const f=frame(points.length?points:chart.row.map((_,i)=>i));
const px=(x)=>left+(right-left)*Math.log10(x / f.x0)/ Math.log10(f.x1 / f.x0);
const most=Math.max(...points.map(timeAt),1);
const largest=narrow?18:27;
const radius=(i)=>Math.max(2.5,largest*Math.sqrt(timeAt(i)/ most));
const picture=svg("svg",{class:"chart",height:high,viewBox:`0 0 ${width} ${high}`,role:"img","aria-label":roofFinding(points)},svg("clipPath",{id:"plot"},svg("rect",{x:left,y:top-8,width:right-left,height:bottom-top+8})));
const labels=labeller(left,right,bottom);
const yText=levelled?"of the roof":"FLOP/s";
picture.append(svg("text",{x:0,y:11},yText));
if(levelled){const above=points.some((i)=>(metricOf(chart.row[i],"roof")||0)>1)?1.3:1.04;
const zero=bottom-14;
const py=(share)=>zero-(zero-top)*Math.min(share,above)/ above;
const ticks=[0,0.25,0.5,0.75,1].map((s)=>[py(s),100*s+THIN+"%"]);
picture.append(axes(f,px,bottom,left,right,ticks,top));
if(above>1.1)
picture.append(svg("rect",{x:left,width:right-left,y:py(above),height:py(1)-py(above),fill:"var(--red)","fill-opacity":0.07}),svg("text",{x:left+6,y:py(above)+13},"above the roof: impossible"));
picture.append(svg("line",{x1:left,x2:right,y1:py(1),y2:py(1),stroke:"var(--ink)","stroke-width":2}));
const inside=points.filter((i)=>metricOf(chart.row[i],"roof")!==null);
const yOf=(i)=>py(metricOf(chart.row[i],"roof"));
blockBubbles(inside,px,yOf,radius,labels);
picture.append(...bubbles(inside,px,yOf,radius,labels,(i,x,y)=>
svg("line",{x1:x,x2:x,y1:y,y2:py(1),stroke:"var(--ink)","stroke-width":1.5})))}else{const py=(y)=>bottom-(bottom-top)*Math.log10(y / f.y0)/ Math.log10(f.y1 / f.y0);
const ticks=[];
for(const y of logTicks(f.y0,f.y1))
ticks.push([py(y),si(y,"").replace(/\.0+(?=\D)/,"")]);
const{out,labels:ends,main}=roofLines(f,px,py,right);
const yOf=(i)=>py(chart.y[i]);
blockBubbles(points,px,yOf,radius,labels);
picture.append(out,axes(f,px,bottom,left,right,ticks,top),slopeLabels(f,px,py,main,labels));
if(!narrow)picture.append(ends);
picture.append(...bubbles(points,px,yOf,radius,labels,(i,x,y)=>{const roof=metricOf(chart.row[i],"roof");
const to=roof>0&&roof<1?py(chart.y[i]/ roof):y;
const turned=x>right-130;
labels.block(turned?x-136:x,(y+to)/ 2-12,136,16);
labels.block(x-3,Math.min(y,to),6,Math.abs(y-to));
return svg("g",{"pointer-events":"none"},svg("line",{x1:x,x2:x,y1:y,y2:to,stroke:"var(--ink)","stroke-width":1.5}),svg("circle",{cx:x,cy:to,r:3,fill:"var(--ink)"}),roof>0&&roof<1?svg("text",{x:turned?x-6:x+6,y:(y+to)/ 2,"text-anchor":turned?"end":"start",class:"halo ink"},`${three(1 / roof)} × to the roof`):null)}))}
box.replaceChildren(picture,el("div",{class:"legend",style:`padding-left:${left}px`},legend(),el("span",null,chart.devices.length?`area: time on GPU ${roofDevice().id}`
:"area: time"),undrawn?el("span",null,`${count(undrawn)} smaller rows are not drawn`):null));
showFurthest()}
function roofFinding(points){const worst=points.map((i)=>chart.row[i]).filter((row)=>lostOf(row)!==null)
.sort((a,b)=>lostOf(b)-lostOf(a))[0];
return `Roofline of ${points.length} rows`+(worst===undefined?"":
`; most is lost by ${titleOf(worst)}, at ${percent(metricOf(worst, "roof"))} of the roof`)}
function showFurthest(){const worst=allRows.filter((row)=>lostOf(row)>0&&!isOff(row))
.sort((a,b)=>lostOf(b)-lostOf(a)).slice(0,7);
byId("roofline_s").replaceChildren(worst.length?el("h3",null,"Furthest from the roof: lost in the run"):"",...worst.map((row)=>el("button",{class:"item",type:"button",title:titleOf(row),"data-row":row,"aria-pressed":String(row===state.row),onclick:()=>select(row)},el("span",{class:"r"},time(lostOf(row))),el("span",{style:row===state.row?"text-decoration:underline;font-weight:600":""},middleCut(`${rows.name[row]} ${paramsOf(row)}`,60)),el("span",{class:"note"},swatch(rows.bound[row]),[rows.pass[row],`${percent(metricOf(row, "roof"))} of the roof`,rows.bound[row]].filter(Boolean).join(", ")))),chart.left_out?el("p",{class:"note",style:"margin-top:12px"},`Not on the chart: ${count(chart.left_out)} row${chart.left_out > 1 ? "s" : ""} `+
"without FLOPs, bytes or time, "+
`${chart.left_out_share.replace("%", THIN + "%")} of the time.`):"")}
{const tools=byId("roofline_t");
if(chart.devices.length>1)
tools.append(segmented("Device",chart.devices.map((d,i)=>[String(i),`GPU ${d.id}`]),"0",(value)=>{roofView.device=+value;showRoofline()}));
if(typesOfPoints.length>1)
tools.append(segmented("Type",[["","all types"],...typesOfPoints.map((t)=>[t,t])],"",(value)=>{roofView.type=value;showRoofline()}));
tools.append(segmented("Scale",[["classic","classic"],["levelled","levelled"]],roofView.levelled?"levelled":"classic",(value)=>{roofView.levelled=value==="levelled";showRoofline()}));
byId("roofline_n").textContent=chart.roofs.length
?chart.devices.length?"roofs of one GPU at a time; rates of a row are of all its GPUs"
:device?"roofs of the GPU":"roofs of this CPU"
:rows.bound.some(Boolean)?"no operator says in which type it computes, so no roof is drawn"
:"the machine's ceilings are not known, so there is no roof";
for(const event of["select","filter","resize"])on(event,showRoofline)}
)page",
R"page(const tree=decoded(data.tree);
tree.row.forEach((row,i)=>{if(row>=0)tree.parameters[i]=rows.parameters[row]});
const nodes=tree.parent.map((parent,i)=>({i,parent,children:[],depth:0,shut:false}));
const topNodes=[];
for(const n of nodes){(n.parent<0?topNodes:nodes[n.parent].children).push(n);
n.depth=n.parent<0?0:nodes[n.parent].depth+1}
const treeView={by:device?"device":"host",at:null,boxes:[],order:"time"};
function widthsBy(times){const out=times.slice();
for(let i=out.length-1;i>=0;i--)
if(!(out[i]>0))out[i]=nodes[i].children.reduce((sum,c)=>sum+out[c.i],0);
return out}
const treeWidths={host:widthsBy(tree.total),device:device?widthsBy(tree.device):null};
const widthOf=(n)=>treeWidths[treeView.by][n.i];
const REGION=26,OPERATOR=44;
const highOf=(n)=>(tree.op[n.i]?OPERATOR:REGION);
const countOf=(n)=>(tree.folded[n.i]>1?` ×${count(tree.folded[n.i])}`:"");
function layout(at){const out=[];
const inOrder=(list)=>list.filter((n)=>widthOf(n)>0)
.sort((a,b)=>(treeView.order==="time"?widthOf(b)-widthOf(a)
:tree.first[a.i]-tree.first[b.i]));
const put=(n,x,y,part)=>{out.push({n,x,y,w:widthOf(n)*part});
let from=x;
const inside=inOrder(n.children);
const sum=inside.reduce((s,c)=>s+widthOf(c),0);
const below=sum>widthOf(n)?part*widthOf(n)/ sum:part;
for(const c of inside){put(c,from,y+highOf(n),below);
from +=widthOf(c)*below}
};
let x=0;
for(const n of at?[at]:inOrder(topNodes)){put(n,x,0,1);
x +=widthOf(n)}
return out}
const matches=(n)=>!state.match||(tree.row[n.i]>=0&&state.match[tree.row[n.i]])||
n.children.some(matches);
function tipOfNode(event,n,whole){showTip(event,[tree.name[n.i],tree.parameters[n.i]].filter(Boolean).join(" ")+countOf(n),[`${time(widthOf(n))}, ${percent(widthOf(n) / whole)} of ` +
(treeView.at?"what is shown":"all"),tree.roof[n.i]===null?"":`${percent(tree.roof[n.i])} of the roof` +
(tree.row[n.i]>=0?`, ${rows.bound[tree.row[n.i]] || "n/a"}`:""),`${count(tree.calls[n.i])} calls, own time ` +
time(treeView.by==="device"?tree.device_self[n.i]:tree.self[n.i])])}
function treeBox(item,scale,whole){const{n,x,y,w}=item;
const isOp=tree.op[n.i]===1,row=tree.row[n.i];
const bound=row>=0?rows.bound[row]:"",wide=w*scale-1;
const high=highOf(n);
const label=wide>34;
const box=el("button",{type:"button",tabindex:wide>34?0:-1,"data-row":row,class:`box ${isOp ? "op" : "region"}${row >= 0 && row === state.row ? " sel" : ""}` +
(wide<8?" thin":"")+
(matches(n)?"":" off"),"aria-label":`${tree.name[n.i]} ${time(w)}`,style:`left:${x * scale}px;top:${y}px;width:${Math.max(1, wide)}px;height:${high - 1}px;` +
(isOp?`background:${pale(bound)};`:"")+(label?"":"padding:0")},label?[el("b",null,wide>70?middleCut(tree.name[n.i]+countOf(n),(wide-8)/ 6.6)
:tree.name[n.i]+countOf(n)),isOp?el("br"):" ",el("i",null,isOp&&tree.parameters[n.i]&&wide>110&&row>=0
?`${paramsOf(row)} ${percent(w / whole)}${wide > 220 && bound ? ", " + bound : ""}`
:`${percent(w / whole)}` +
(wide>150&&!isOp?" "+time(w):""))]:null,tree.roof[n.i]===null?null:el("u",{style:`height:${isOp ? 7 : 3}px;width:`+
`${100 * Math.min(1, tree.roof[n.i])}%;background:${isOp ? hue(bound) : "var(--line2)"}`}));
box.addEventListener("pointermove",(event)=>tipOfNode(event,n,whole));
box.addEventListener("pointerleave",hideTip);
box.addEventListener("click",()=>{if(isOp&&row>=0)select(row);
if(!n.children.length||n===treeView.at)return;
hideTip();
treeView.at=n;
showTree()});
return box}
function crumbs(){const path=[];
for(let n=treeView.at;n;n=n.parent<0?null:nodes[n.parent])path.unshift(n);
const link=(text,n)=>el("button",{class:"link",type:"button",onclick:()=>{treeView.at=n;showTree()}},text);
byId("tree_l").replaceChildren(el("span",{class:"crumbs"},link("all",null),path.map((n)=>[" › ",link(tree.name[n.i]+countOf(n),n)])),el("span",{class:"note"},isTouched()
?"a tap zooms into a scope and selects an operator; the path at the left leads up"
:"click zooms into a scope and selects an operator; Esc goes up"))}
function showTree(){byId("tree").hidden=nodes.length===0;
if(nodes.length===0)return;
const host=byId("tree_b"),width=host.clientWidth;
const items=layout(treeView.at);
const whole=treeView.at?widthOf(treeView.at)
:topNodes.reduce((sum,n)=>sum+widthOf(n),0);
const scale=whole>0?width / whole:0;
const drawn=items.filter((item)=>item.w*scale>=1.2).slice(0,1500);
host.style.height=drawn.reduce((most,i)=>Math.max(most,i.y+highOf(i.n)),0)+"px";
treeView.boxes=drawn.map((item)=>[treeBox(item,scale,whole),item.n]);
host.replaceChildren(...treeView.boxes.map(([box])=>box));
const left=items.length-drawn.length+(tree.left_out||0);
byId("tree_n").textContent=`width is ${treeView.by === "device" ? "device" : "host"} time`+
`, repeated siblings folded${left ? `; ${count(left)} narrower than a pixel` : ""}`;
crumbs()}
function treeUp(){if(!treeView.at)return false;
treeView.at=treeView.at.parent<0?null:nodes[treeView.at.parent];
showTree();
return true}
{const tools=byId("tree_t");
if(device)
tools.append(segmented("Time",[["device","device"],["host","host"]],treeView.by,(value)=>{treeView.by=value;treeView.at=null;showTree()}));
tools.append(segmented("Order",[["time","by time"],["execution","as it ran"]],"time",(value)=>{treeView.order=value;showTree()}));
tools.append(el("button",{type:"button",onclick:()=>{treeView.at=null;showTree()}},"Reset"));
on("resize",showTree);
on("select",()=>{for(const[box,n]of treeView.boxes)
box.classList.toggle("sel",tree.row[n.i]>=0&&tree.row[n.i]===state.row)});
on("filter",()=>{for(const[box,n]of treeView.boxes)box.classList.toggle("off",!matches(n))})}
)page",
R"page(const timeline=data.timeline?decoded(data.timeline):null;
let lanes=[];
let hiddenLanes=[];
const MOST_REGIONS=3;
const MOST_LANES=8;
function rowsOfLane(lane){const out=[],ends=[];
let begin=0;
lane.begin.forEach((difference,i)=>{begin +=difference;
const end=begin+lane.ns[i];
while(ends.length&&ends[ends.length-1]<=begin)ends.pop();
const depth=ends.length;
ends.push(end);
(out[depth]=out[depth]||{begin:[],end:[],which:[]});
out[depth].begin.push(begin);
out[depth].end.push(end);
out[depth].which.push(i)});
for(const row of out)
for(let i=1;i<row.begin.length;i++)
if(row.begin[i]<row.end[i-1])row.begin[i]=Math.min(row.end[i],row.end[i-1]);
return out}
function firstAfter(ends,at){let low=0,high=ends.length;
while(low<high){const middle=(low+high)>>1;
if(ends[middle]>at)high=middle;
else low=middle+1}
return low}
function nearestSlice(line,t,slack){const k=firstAfter(line.end,t);
const after=k<line.end.length?line.begin[k]-t:Infinity;
const before=k>0?t-line.end[k-1]:Infinity;
if(Math.min(after,before)>slack)return-1;
return before<after?k-1:k}
const nodeAt=new Map();
function regionsAround(node){const out=[];
for(let at=node;at;at=nodeAt.get(at.parent))if(!at.op)out.unshift(at);
return out}
function runOfRegion(thread,region,t){for(const line of thread?thread.rows:[]){const k=firstAfter(line.end,t);
if(k<line.begin.length&&line.begin[k]<=t&&thread.node[line.which[k]]===region.id)
return line.begin[k]}
return-1}
function regionLane(id,streams,made){const found=new Map(),laneAt=new Map(made.map((lane)=>[lane.at,lane]));
for(const lane of streams)
for(const line of lane.rows)
line.begin.forEach((begin,k)=>{const i=line.which[k],launch=lane.launch[i];
if(launch<0)return;
const thread=laneAt.get(lane.launcher[i]);
let run=-1;
regionsAround(nodeAt.get(lane.node[i])).slice(0,MOST_REGIONS).forEach((region,depth)=>{run=Math.max(run,runOfRegion(thread,region,begin-launch));
const key=`${region.id} ${run}`,one=found.get(key);
if(!one)found.set(key,{region,depth,begin,end:line.end[k]});
else{one.begin=Math.min(one.begin,begin);
one.end=Math.max(one.end,line.end[k])}
})});
if(found.size===0)return[];
const lane={name:`GPU ${id}, regions`,kind:"regions",device:id,rows:[],node:[]};
for(const one of[...found.values()].sort((a,b)=>a.begin-b.begin)){const line=lane.rows[one.depth]=lane.rows[one.depth]||{begin:[],end:[],which:[]};
const before=line.end[line.end.length-1];
if(before>=one.end)continue;
line.begin.push(Math.max(one.begin,before||one.begin));
line.end.push(one.end);
line.which.push(lane.node.length);
lane.node.push(one.region.id)}
lane.begin=lane.node;
return[lane]}
function rateLane(id,sources){const known=sources.some((lane)=>lane.node.some((node)=>{const of=nodeAt.get(node);
return of&&of.row>=0&&metricOf(of.row,"gflops")>0}));
return known?[{name:"rate",kind:"rate",device:id,sources,rows:[],begin:[]}]:[]}
if(timeline){timeline.node.forEach((node,i)=>nodeAt.set(node,{id:node,name:timeline.node_name[i],row:timeline.node_row[i],op:timeline.node_op[i]===1,parent:timeline.node_parent[i]}));
const busy=(lane)=>lane.ns.reduce((sum,ns)=>sum+ns,0);
const made=timeline.lanes.map(decoded).map((lane,i)=>
({...lane,at:i,busy:busy(lane),rows:rowsOfLane(lane)})).filter((l)=>l.begin.length);
const ofKind=(kind)=>made.filter((l)=>l.kind===kind).sort((a,b)=>b.busy-a.busy);
for(const thread of ofKind("thread"))
lanes.push(thread,...ofKind("calls").filter((c)=>c.thread===thread.at));
lanes.push(...ofKind("calls").filter((c)=>!lanes.includes(c)));
const streams=ofKind("stream"),devices=[...new Set(streams.map((s)=>s.device))].sort();
if(devices.length===0)lanes.push(...rateLane(-1,lanes.filter((l)=>l.kind==="thread")));
for(const id of devices){const own=streams.filter((s)=>s.device===id);
lanes.push(...regionLane(id,own,made),...own,...rateLane(id,own))}
if(data.steps&&data.steps.of.length)
lanes.unshift({name:"steps",kind:"steps",rows:[{begin:data.steps.of.map((s)=>s[1]),end:data.steps.of.map((s)=>s[1]+s[2]),which:data.steps.of.map((_,i)=>i)}]})}
function foldLanes(fold){const all=[...lanes,...hiddenLanes].sort((a,b)=>a.order-b.order);
let threads=0,streams=0;
const keeps=(lane)=>{if(/^(steps|regions|rate)$/.test(lane.kind))return true;
return lane.kind==="stream"?++streams<=MOST_LANES:++threads<=MOST_LANES};
lanes=fold?all.filter(keeps):all;
hiddenLanes=all.filter((lane)=>!lanes.includes(lane))}
lanes.forEach((lane,i)=>{lane.order=i});
foldLanes(true);
function sliceOf(lane,i){if(lane.kind==="steps")return{name:`step ${data.steps.of[i][0]}`,row:-1,op:false};
const node=lane.node?nodeAt.get(lane.node[i]):undefined;
if(lane.kind==="regions")return{name:node.name,row:-1,op:false};
if(lane.kind==="thread")
return{name:node?node.name:"",row:node&&node.op?node.row:-1,op:node&&
node.op};
const name=timeline.names[lane.name_of[i]]||"";
return{name,row:node?node.row:-1,op:lane.kind==="stream",launch:lane.launch&&lane.launch[i]>=0?lane.launch[i]:-1}}
function slowestOf(row){let found=null;
for(const lane of lanes)
for(const line of lane.rows)
for(let k=0;k<line.begin.length;k++){if(lane.kind==="steps"||lane.kind==="regions")continue;
const node=lane.node?nodeAt.get(lane.node[line.which[k]]):undefined;
if(!node||node.row!==row||(lane.kind==="thread"&&!node.op))continue;
const ns=line.end[k]-line.begin[k];
if(!found||(lane.kind==="stream"&&found.kind!=="stream")||
(lane.kind===found.kind&&ns>found.ns))
found={begin:line.begin[k],ns,kind:lane.kind}}
return found}
)page",
R"page(const view={from:0,to:1,colours:null,top:[],frame:0,pointer:null};
const LABEL=()=>(isNarrow()?0:150);
const RATE=44;
const ROW={steps:18,thread:17,calls:12,regions:17,stream:36,rate:RATE};
const highOfLane=(lane)=>(lane.kind==="rate"?RATE:lane.rows.length*ROW[lane.kind]);
const canvas=el("canvas",{tabindex:0,role:"img","aria-label":"Timeline of threads and streams; keys w a s d zoom and move, 0 shows all"});
const strip=el("canvas",{class:"strip","aria-hidden":"true"});
const range=el("div",{class:"line note",style:"margin:0 0 4px"});
function sized(node,high){const wide=node.clientWidth,ratio=Math.min(3,devicePixelRatio||1);
node.width=Math.round(wide*ratio);
node.height=Math.round(high*ratio);
node.style.height=high+"px";
const pen=node.getContext("2d");
pen.setTransform(ratio,0,0,ratio,0,0);
pen.clearRect(0,0,wide,high);
return pen}
const titleHigh=()=>(LABEL()?0:16);
function lanePlaces(){let y=8;
view.top=lanes.map((lane)=>{const top=y+titleHigh();
y=top+highOfLane(lane)+(lane.kind==="thread"?10:8);
return top});
canvas.dataset.lanes=lanes.map((lane,i)=>`${lane.kind} ${view.top[i]}`).join(" ");
return y+18}
const xOf=(t)=>LABEL()+
(canvas.clientWidth-LABEL())*(t-view.from)/(view.to-view.from);
const tOf=(x)=>view.from +
(view.to-view.from)*(x-LABEL())/(canvas.clientWidth-LABEL());
function colourOf(slice,lane){const c=view.colours;
if(lane.kind==="stream"&&slice.row>=0){const name=hueName(rows.bound[slice.row]);
return[c[name+"_pale"],c[name]]}
if(lane.kind==="thread"&&slice.op&&!device&&slice.row>=0){const name=hueName(rows.bound[slice.row]);
return[c[name+"_pale"],c[name]]}
if(lane.kind==="steps")return[c.bg2,null];
if(lane.kind==="calls")return[c.line2,null];
return[slice.op?c.unknown_pale:c.bg2,null]}
function cutText(pen,text,room){if(pen.measureText(text).width<=room)return text;
let n=Math.floor(text.length*room / pen.measureText(text).width)-1;
while(n>1&&pen.measureText(text.slice(0,n)+"…").width>room)n--;
return n>1?text.slice(0,n)+"…":""}
function drawSlice(pen,lane,slice,x0,x1,y,high,ns){const c=view.colours,w=Math.max(1,x1-x0-(x1-x0>3?1:0));
let[back,solid]=colourOf(slice,lane);
if(lane.kind==="stream"&&w<4&&back===c.unknown_pale)back=c.unknown;
pen.globalAlpha=slice.row>=0&&isOff(slice.row)?0.25:1;
pen.fillStyle=back;
pen.fillRect(x0,y,w,high-1);
const roof=slice.row>=0?metricOf(slice.row,"roof"):null;
if(solid&&roof!==null){pen.fillStyle=solid;
const thick=lane.kind==="stream"?6:3;
pen.fillRect(x0,y+high-1-thick,w*Math.min(1,roof),thick)}
if(w>26&&high>=16){pen.fillStyle=c.ink;
pen.font=`${slice.op ? "" : "600 "}11px ${c.font}`;
const left=Math.max(x0,LABEL())+4,room=x0+w-left-4;
const name=slice.row>=0&&lane.kind==="stream"?rows.name[slice.row]:slice.name;
if(room>14)pen.fillText(cutText(pen,name,room),left,y+(high>30?13:12));
if(high>30&&room>34){const bound=roof===null?"":`  ${percent(roof)}, ${rows.bound[slice.row]}`;
pen.fillText(cutText(pen,time(ns)+bound,room),left,y+26)}else if(high<=30&&lane.kind==="steps"&&room>110){pen.fillStyle=c.ink3;
pen.fillText(time(ns),left+60,y+12)}
}
if(slice.row>=0&&slice.row===state.row&&slice.op&&w<6){pen.fillStyle=c.ink;
pen.fillRect(x0,y,w,3)}else if(slice.row>=0&&slice.row===state.row&&slice.op){pen.strokeStyle=c.ink;
pen.lineWidth=2;
pen.strokeRect(x0+1,y+1,Math.max(1,w-2),high-3)}
pen.globalAlpha=1}
function eachVisible(line,visit,visitColumn){const least=2*(view.to-view.from)/ Math.max(1,canvas.clientWidth-LABEL());
let visited=0;
for(let k=firstAfter(line.end,view.from);k<line.begin.length;k++){if(line.begin[k]>view.to)break;
visited++;
if(line.end[k]-line.begin[k]>=least){visit(k,line.begin[k],line.end[k]);continue}
const until=line.begin[k]+least;
const next=Math.max(k+1,firstAfter(line.end,until));
visitColumn(k,next,line.begin[k],Math.max(line.end[k],Math.min(until,line.end[next-1])));
k=next-1}
return visited}
function drawLane(pen,lane,top){const high=ROW[lane.kind];
if(lane.kind==="rate"){drawRate(pen,lane,top);return}
const inSight=(begin,end)=>[Math.max(LABEL()-2,xOf(begin)),Math.min(canvas.clientWidth+2,xOf(end))];
lane.rows.forEach((line,depth)=>{const y=top+depth*high;
eachVisible(line,(k,begin,end)=>{const[x0,x1]=inSight(begin,end);
if(x1>x0)drawSlice(pen,lane,sliceOf(lane,line.which[k]),x0,x1,y,high,line.end[k]-line.begin[k])},(first,next,begin,end)=>{const[x0,x1]=inSight(begin,end);
if(x1>x0)drawColumn(pen,lane,line,first,next,x0,x1,y,high)})})}
function laneName(pen,lane,i){const room=(LABEL()||canvas.clientWidth)-12,above=lanes[i-1];
if(lane.kind==="rate")return `FLOP/s, most ${si(lane.most, "")}, roof ` +
(roofOfLane(lane)>0?si(roofOfLane(lane),""):"n/a");
if(lane.kind==="calls"&&above&&above.at===lane.thread)return "CUDA calls";
if(lane.room!==room){let most=Math.min(200,lane.name.length);
while(most>4&&pen.measureText(middleCut(lane.name,most)).width>room)most--;
lane.room=room;
lane.cut=middleCut(lane.name,most)}
return lane.cut}
function drawNames(pen,high){const c=view.colours;
lanes.forEach((lane,i)=>{pen.font=`12px ${c.font}`;
if(LABEL()){pen.fillStyle=c.bg;
pen.fillRect(0,view.top[i],LABEL(),highOfLane(lane))}
pen.fillStyle=c.ink2;
if(lane.kind==="rate"&&LABEL())nameRate(pen,lane,view.top[i]);
else pen.fillText(laneName(pen,lane,i),0,view.top[i]+(LABEL()?12:-4))});
pen.fillStyle=c.line2;
pen.fillRect(0,0,canvas.clientWidth,1);
pen.fillRect(0,high-19,canvas.clientWidth,1)}
function drawAxis(pen,high){const span=view.to-view.from,wanted=span / Math.max(2,canvas.clientWidth / 130);
const power=10**Math.floor(Math.log10(wanted));
const step=[1,2,5,10].map((n)=>n*power).find((n)=>n>=wanted);
const c=view.colours;
pen.font=`11px ${c.font}`;
const first=timeline.begin;
for(let t=Math.ceil((view.from-first)/ step)*step;t+first<=view.to;t +=step){const x=xOf(t+first);
pen.fillStyle=c.line;
pen.fillRect(x,1,1,high-20);
pen.fillStyle=c.ink3;
const decimals=Math.max(0,Math.ceil(Math.log10(TIME[step>=1e6?2:step>=1e3?1
:0][0]/
step)));
const[per,unit]=TIME[step>=1e6?2:step>=1e3?1:0];
const text=grouped((t / per).toFixed(decimals))+THIN+unit;
if(x+pen.measureText(text).width<canvas.clientWidth)pen.fillText(text,x+3,high-5)}
}
function drawArrow(pen){if(state.row<0)return;
let best=null;
lanes.forEach((lane,i)=>{if(lane.kind!=="stream")return;
lane.rows.forEach((line,depth)=>{for(let k=firstAfter(line.end,view.from);k<line.begin.length;k++){if(line.begin[k]>view.to)break;
const slice=sliceOf(lane,line.which[k]);
if(slice.row!==state.row||slice.launch<0)continue;
const seen=line.begin[k]-slice.launch>=view.from&&line.begin[k]>=view.from;
const ns=line.end[k]-line.begin[k]+(seen?1e15:0);
if(!best||ns>best.ns)
best={ns,begin:line.begin[k],launch:slice.launch,from:lane.launcher?lane.launcher[line.which[k]]:-1,y:view.top[i]+
depth*ROW.stream}}
})});
if(!best)return;
const source=lanes.findIndex((l)=>l.at===best.from&&l.kind==="thread");
if(source<0)return;
const c=view.colours,from=lanes[source];
const x0=xOf(best.begin-best.launch),x1=xOf(best.begin);
const y0=view.top[source]+from.rows.length*ROW[from.kind],y1=best.y;
pen.save();
pen.beginPath();
pen.rect(LABEL(),0,canvas.clientWidth-LABEL(),canvas.clientHeight);
pen.clip();
pen.strokeStyle=pen.fillStyle=c.ink;
pen.lineWidth=1.3;
pen.beginPath();
pen.moveTo(x0,y0);
pen.bezierCurveTo(x0,(y0+y1)/ 2,x1,(y0+y1)/ 2,x1,y1-4);
pen.stroke();
pen.beginPath();
pen.moveTo(x1,y1);
pen.lineTo(x1-4,y1-7);
pen.lineTo(x1+4,y1-7);
pen.fill();
pen.font=`12px ${c.font}`;
const text=`launched ${time(best.launch)} before it ran`,w=pen.measureText(text).width;
const x=Math.max(LABEL()+4,Math.min(canvas.clientWidth-w-4,(x0+x1-w)/ 2));
pen.fillStyle=c.bg;
const y=Math.min(y0+12,(y0+y1)/ 2);
pen.fillRect(x-4,y-12,w+8,16);
pen.fillStyle=c.ink;
pen.fillText(text,x,y);
pen.restore()}
function preciseTime(ns,span){const[per,unit]=[...TIME].reverse().find((t)=>ns>=t[0])||TIME[0];
const decimals=Math.max(0,Math.min(9,Math.ceil(-Math.log10(span / per / 100))));
return grouped((ns / per).toFixed(ns>0?decimals:0))+THIN+unit}
function drawPointer(pen,high){const c=view.colours,x=view.pointer===null?-1:xOf(view.pointer);
if(x<LABEL()||x>canvas.clientWidth)return;
pen.fillStyle=c.ink3;
pen.fillRect(x,1,1,high-20);
pen.font=`11px ${c.font}`;
const text=preciseTime(Math.max(0,view.pointer-timeline.begin),view.to-view.from);
const w=pen.measureText(text).width;
const left=Math.max(LABEL(),Math.min(canvas.clientWidth-w-8,x-w / 2-4));
pen.fillStyle=c.ink;
pen.fillRect(left,high-18,w+8,16);
pen.fillStyle=c.bg;
pen.fillText(text,left+4,high-6)}
function drawStrip(){const pen=sized(strip,34),c=view.colours,wide=strip.clientWidth-LABEL();
const span=timeline.end-timeline.begin||1,step=wide / timeline.busy.length;
pen.font=`11px ${c.font}`;
pen.fillStyle=c.ink3;
if(LABEL())pen.fillText(device?"GPU busy, whole run":"busy, whole run",0,21);
pen.fillStyle=c.bg2;
pen.fillRect(LABEL(),0,wide,34);
pen.fillStyle=c.unknown;
timeline.busy.forEach((share,i)=>{const high=34*share / 100;
pen.fillRect(LABEL()+i*step,34-high,step+0.3,high)});
const x0=LABEL()+wide*Math.max(0,view.from-timeline.begin)/ span;
const x1=LABEL()+wide*Math.min(span,view.to-timeline.begin)/ span;
pen.strokeStyle=c.ink;
pen.lineWidth=2;
pen.strokeRect(x0+1,1,Math.max(4,x1-x0-2),32)}
function drawTimeline(){view.frame=0;
view.colours=view.colours||palette();
const high=lanePlaces(),pen=sized(canvas,high);
drawAxis(pen,high);
lanes.forEach((lane,i)=>drawLane(pen,lane,view.top[i]));
drawArrow(pen);
drawNames(pen,high);
drawPointer(pen,high);
drawStrip();
const from=view.from-timeline.begin,to=view.to-timeline.begin;
range.firstChild.textContent=`${preciseTime(Math.max(0, from), to - from)} … `+
`${preciseTime(to, to - from)} of ${time(timeline.end - timeline.begin)}`}
function redraw(){if(timeline&&!view.frame)view.frame=requestAnimationFrame(drawTimeline)}
)page",
R"page(const DENSE=["compute","memory","latency","unknown","red","off","plain"];
const PLAIN=DENSE.indexOf("plain"),OFF=DENSE.indexOf("off");
const isHued=(lane,node)=>Boolean(node)&&node.row>=0&&
(lane.kind==="stream"||(lane.kind==="thread"&&node.op&&!device));
function sumsOf(lane,line){const key=`${state.row} ${state.filter}`;
if(line.sums&&line.sums.key===key)return line.sums;
const n=line.begin.length,sums={key,time:[],needed:[],chosen:new Uint32Array(n+1)};
for(let k=0;k<n;k++){const node=lane.node?nodeAt.get(lane.node[line.which[k]]):undefined;
const hued=isHued(lane,node),ns=line.end[k]-line.begin[k];
const hue=hued?isOff(node.row)?OFF:DENSE.indexOf(hueName(rows.bound[node.row])):PLAIN;
if(!sums.time[hue]){sums.time[hue]=new Float64Array(n+1);
sums.needed[hue]=new Float64Array(n+1)}
sums.time[hue][k+1]=ns;
if(hued)sums.needed[hue][k+1]=ns*Math.min(1,metricOf(node.row,"roof")||0);
if(node&&node.op&&node.row>=0&&node.row===state.row)sums.chosen[k+1]=1}
for(const column of[sums.chosen,...sums.time,...sums.needed])
if(column)for(let k=0;k<n;k++)column[k+1]+=column[k];
line.sums=sums;
return sums}
function drawColumn(pen,lane,line,first,next,x0,x1,y,high){const c=view.colours,sums=sumsOf(lane,line),w=Math.max(1,x1-x0);
const parts=sums.time.map((column)=>(column?column[next]-column[first]:0));
const all=parts.reduce((sum,ns)=>sum+(ns||0),0)||1;
let bottom=y+high-1;
parts.forEach((ns,hue)=>{if(!(ns>0))return;
const tall=(high-1)*ns / all,name=DENSE[hue];
pen.fillStyle=hue===OFF?c.line:hue===PLAIN?plainColour(lane,line.which[first])
:c[name+"_pale"];
pen.fillRect(x0,bottom-tall,w,tall);
const needed=sums.needed[hue][next]-sums.needed[hue][first];
if(needed>0&&hue!==OFF){pen.fillStyle=c[name];
pen.fillRect(x0,bottom-tall*needed / ns,w,tall*needed / ns)}
bottom -=tall});
if(sums.chosen[next]>sums.chosen[first]){pen.fillStyle=c.ink;
pen.fillRect(x0,y,w,3)}
}
function plainColour(lane,i){const c=view.colours;
if(lane.kind==="calls")return c.line2;
return lane.kind==="stream"?c.unknown:sliceOf(lane,i).op?c.unknown_pale:c.line}
function rateLines(lane){if(lane.lines)return lane.lines;
lane.lines=[];
for(const source of lane.sources){let above=[];
for(const line of source.rows){const used={begin:[],end:[],rate:[],flops:[0]};
let at=0;
for(let k=0;k<line.begin.length;k++){const node=nodeAt.get(source.node[line.which[k]]);
const rate=node&&node.row>=0&&(node.op||source.kind==="stream")
?metricOf(node.row,"gflops")||0:0;
while(at<above.length&&above[at][1]<=line.begin[k])at++;
if(rate===0||(at<above.length&&above[at][0]<=line.begin[k]))continue;
used.begin.push(line.begin[k]);
used.end.push(line.end[k]);
used.rate.push(rate);
used.flops.push(used.flops[used.flops.length-1]+rate*(line.end[k]-line.begin[k]))}
if(source.kind!=="stream")
above=[...above,...used.begin.map((b,k)=>[b,used.end[k]])]
.sort((a,b)=>a[0]-b[0]);
if(used.begin.length)lane.lines.push(used)}
}
return lane.lines}
function flopsUntil(line,t){const k=firstAfter(line.end,t);
const part=k<line.begin.length&&t>line.begin[k]?(t-line.begin[k])*line.rate[k]:0;
return line.flops[k]+part}
function ratesInSight(lane,columns){const lines=rateLines(lane),out=new Float64Array(columns);
const each=(view.to-view.from)/ columns;
for(const line of lines){let before=flopsUntil(line,view.from);
for(let i=0;i<columns;i++){const until=flopsUntil(line,view.from+(i+1)*each);
out[i]+=1e9*(until-before)/ each;
before=until}
}
return out}
function roofOfLane(lane){const of=chart.devices.find((d)=>d.id===lane.device)||chart;
return of.roofs.reduce((most,r)=>Math.max(most,r.flops),0)}
function drawRate(pen,lane,top){const c=view.colours,high=RATE,wide=canvas.clientWidth-LABEL(),step=2;
const rates=ratesInSight(lane,Math.max(1,Math.floor(wide / step)));
const most=rates.reduce((a,b)=>Math.max(a,b),0),roof=roofOfLane(lane);
const all=roof>0&&most>roof / 20?Math.max(roof,most):most;
lane.most=most;
canvas.dataset.rate=String(most);
pen.fillStyle=c.unknown;
rates.forEach((rate,i)=>{const tall=all>0?(high-4)*rate / all:0;
pen.fillRect(LABEL()+i*step,top+high-tall,step,tall)});
pen.fillStyle=c.line2;
pen.fillRect(LABEL(),top+high,wide,1);
if(all===roof&&roof>0)
for(const part of[1,0.5])
for(let x=LABEL();x<canvas.clientWidth;x +=5)
pen.fillRect(x,top+high-(high-4)*part,2,1)}
function nameRate(pen,lane,top){const c=view.colours,roof=roofOfLane(lane),most=lane.most;
pen.fillText("FLOP/s",0,top+12);
pen.font=`11px ${c.font}`;
pen.fillStyle=c.ink3;
pen.fillText(cutText(pen,`most ${si(most, "")}`,LABEL()-8),0,top+26);
if(roof>0)pen.fillText(cutText(pen,`roof ${si(roof, "")}` +
(most>roof / 20?"":", far above"),LABEL()-8),0,top+40)}
)page",
R"page(function show(from,to){const span=timeline.end-timeline.begin||1;
const wide=Math.max(20,Math.min(span*1.02,to-from));
const middle=(from+to)/ 2,edge=span*0.01;
view.from=Math.max(timeline.begin-edge,Math.min(timeline.end+edge-wide,middle-wide / 2));
view.to=view.from+wide;
redraw()}
const zoom=(by,at)=>show(at-(at-view.from)*by,at+(view.to-at)*by);
const move=(part)=>show(view.from+part*(view.to-view.from),view.to+part*(view.to-view.from));
const showAll=()=>show(timeline.begin,timeline.end);
const middleOf=()=>(view.from+view.to)/ 2;
function stepFor(which){const steps=data.steps?data.steps.of.filter((s)=>s[2]>0):[];
if(steps.length<1)return null;
if(which==="first")return steps[0];
const[median,slowest]=listed(data.timeline.steps);
return steps.find((s)=>s[1]===(which==="slowest"?slowest:median))||steps[0]}
function showStep(which){const step=stepFor(which);
if(!step||which==="all")showAll();
else show(step[1]-0.03*step[2],step[1]+1.03*step[2])}
function showSlowest(row){const found=timeline&&slowestOf(row);
if(found)show(found.begin-2*found.ns,found.begin+3*found.ns)}
const FINGER=8;
function sliceUnder(event){const box=canvas.getBoundingClientRect();
const x=event.clientX-box.left,y=event.clientY-box.top,t=tOf(x);
if(x<LABEL())return null;
for(let i=0;i<lanes.length;i++){const lane=lanes[i],depth=Math.floor((y-view.top[i])/ ROW[lane.kind]);
if(depth<0||depth>=lane.rows.length)continue;
const line=lane.rows[depth],slack=(view.to-view.from)/ canvas.clientWidth;
const k=nearestSlice(line,t,slack*(event.pointerType==="touch"?FINGER:1));
if(k>=0)
return{...sliceOf(lane,line.which[k]),lane,begin:line.begin[k],ns:line.end[k]-line.begin[k]}}
return null}
function hover(event){view.pointer=tOf(event.clientX-canvas.getBoundingClientRect().left);
redraw();
const found=sliceUnder(event);
canvas.style.cursor=found&&found.row>=0?"pointer":"";
if(!found){hideTip();return}
const roof=found.row>=0?metricOf(found.row,"roof"):null;
showTip(event,found.row>=0?titleOf(found.row):found.name,[found.lane.kind==="stream"?found.name:"",found.lane.name,`${time(found.ns)}, from ${time(Math.max(0, found.begin - timeline.begin))}`,roof===null?"":`its row: ${percent(roof)} of the roof, ${rows.bound[found.row]}`,found.launch>=0?`launched ${time(found.launch)} before it ran`:""])}
const fingers=new Map();
let dragged=0;
function pointerDown(event){if(fingers.size===0)dragged=0;
fingers.set(event.pointerId,event.clientX);
hideTip()}
function pointerMove(event){if(!fingers.has(event.pointerId)){hover(event);return}
const box=canvas.getBoundingClientRect(),wide=canvas.clientWidth-LABEL();
const before=fingers.get(event.pointerId);
if(fingers.size>1){const other=[...fingers].find(([id])=>id!==event.pointerId)[1];
const was=Math.abs(before-other),is=Math.abs(event.clientX-other);
if(was>4&&is>4)zoom(was / is,tOf(other-box.left));
dragged=Infinity;
}else{dragged +=Math.abs(event.clientX-before);
if(dragged>3){canvas.setPointerCapture(event.pointerId);
move((before-event.clientX)/ wide)}
}
fingers.set(event.pointerId,event.clientX)}
function pointerUp(event){fingers.delete(event.pointerId);
if(event.type!=="pointerup"||dragged>3)return;
const found=sliceUnder(event);
if(found&&found.row>=0)select(found.row)}
function stripTo(event){if(event.type==="pointermove"&&!event.buttons)return;
const box=strip.getBoundingClientRect(),wide=strip.clientWidth-LABEL();
const at=timeline.begin+(timeline.end-timeline.begin)*
(event.clientX-box.left-LABEL())/ wide,half=(view.to-view.from)/ 2;
show(at-half,at+half)}
function timelineKey(event){const keys={KeyW:()=>zoom(0.7,middleOf()),KeyS:()=>zoom(1.43,middleOf()),KeyA:()=>move(-0.15),KeyD:()=>move(0.15),Digit0:showAll};
const f=timeline&&keys[event.code];
if(!f)return false;
f();
return true}
function startTimeline(){byId("timeline").hidden=!timeline||lanes.length===0;
if(byId("timeline").hidden)return;
range.append(el("span"),el("span",null,isTouched()?"drag moves, two fingers zoom"
:"drag moves, Ctrl + wheel or W S zooms, A D moves, 0 shows all"));
byId("timeline_b").replaceChildren(strip,range,canvas);
const left=timeline.all-timeline.shown;
byId("timeline_n").textContent=(left>0
?`${count(timeline.shown)} of ${count(timeline.all)} slices: the median and slowest step `+
"where there are steps, and the longest of the rest; sums are not affected"
:`${count(timeline.all)} slices, none left out`)+
(timeline.older?`. Before the unbroken end ${timeline.older}`:"");
if(stepFor("median")&&data.steps.of.length>1)
byId("timeline_t").append(segmented("Show",[["median","median"],["slowest","slowest"],["first","first"],["all","all"]],"median",showStep));
else byId("timeline_t").append(el("button",{type:"button",onclick:showAll},"all"));
if(hiddenLanes.length)
byId("timeline_t").append(el("button",{type:"button","aria-pressed":"false",onclick:(event)=>{foldLanes(hiddenLanes.length===0);
event.target.textContent=hiddenLanes.length?`${hiddenLanes.length} more lanes`
:"fewer lanes";
redraw()}},`${hiddenLanes.length} more lanes`));
canvas.addEventListener("wheel",(event)=>{if(!event.ctrlKey&&!event.metaKey)return;
event.preventDefault();
const x=event.clientX-canvas.getBoundingClientRect().left;
zoom(Math.exp(event.deltaY / 300),tOf(x))},{passive:false});
canvas.addEventListener("pointerdown",pointerDown);
canvas.addEventListener("pointermove",pointerMove);
for(const name of["pointerup","pointercancel"])canvas.addEventListener(name,pointerUp);
canvas.addEventListener("pointerleave",()=>{hideTip();view.pointer=null;redraw()});
canvas.addEventListener("keydown",(event)=>{if(event.key==="ArrowLeft")move(-0.15);
if(event.key==="ArrowRight")move(0.15)});
strip.addEventListener("pointerdown",stripTo);
strip.addEventListener("pointermove",stripTo);
for(const name of["select","filter","resize"])on(name,redraw);
on("theme",()=>{view.colours=palette();redraw()});
showStep("median")}
)page",
R"page(const STACK=["compute","memory","latency","unknown"];
const partsOf=(step)=>step.slice(4);
function stepStack(step,x,width,scale,bottom,top){const out=svg("g",{opacity:step[3]?1:0.5});
let ns=0;
const put=(part,fill)=>{const from=bottom-ns*scale;
ns +=part;
const to=Math.max(top,bottom-ns*scale);
if(from-to>0.1)out.append(svg("rect",{x,y:to,width,height:from-to,fill}))};
const parts=partsOf(step);
STACK.forEach((name,i)=>{if(parts[2*i]>0)put(parts[2*i],`var(--${name})`);
if(parts[2*i+1]>0)
put(parts[2*i+1],`color-mix(in srgb, var(--${name}) var(--pale), var(--bg))`)});
if(step[2]>ns)put(step[2]-ns,parts.length?"url(#idle)":"var(--line2)");
out.append(svg("rect",{x,y:top,width,height:bottom-top,fill:"transparent"}));
out.addEventListener("pointermove",(event)=>showTip(event,`step ${step[0]}`,[time(step[2])+(step[3]?"":", does not count"),...STACK.map((name,i)=>(parts[2*i]+parts[2*i+1]>0
?`${name}: ${time(parts[2 * i] + parts[2 * i + 1])}, ${time(parts[2 * i])} at the roof`
:"")),step[2]>ns&&parts.length
?`${device ? "GPU idle" : "outside operators"}: ${time(step[2] - ns)}`
:""]));
out.addEventListener("pointerleave",hideTip);
if(timeline){out.style.cursor="pointer";
out.addEventListener("click",()=>{hideTip();
show(step[1]-0.03*step[2],step[1]+1.03*step[2]);
goTo("timeline")})}
return out}
const STEP_COLUMN=3;
function stepColumns(steps,left,width,scale,bottom,top){const columns=Math.floor((width-left)/ STEP_COLUMN);
let labelled=left-60;
return Array.from({length:columns},(_,c)=>{const from=Math.floor(c*steps.length / columns);
const to=Math.floor((c+1)*steps.length / columns);
const sorted=steps.slice(from,to).map((s)=>s[2]).sort((a,b)=>a-b);
const least=sorted[0],most=sorted[sorted.length-1];
const median=sorted[(sorted.length-1)>>1];
const x=left+c*STEP_COLUMN,yOf=(ns)=>Math.max(top,bottom-ns*scale);
const out=svg("g",{class:"column","data-least":least,"data-median":median,"data-most":most},svg("rect",{x,y:yOf(most),width:STEP_COLUMN-1,fill:"var(--line2)",height:Math.max(1,yOf(least)-yOf(most))}),svg("rect",{x,y:yOf(median)-1,width:STEP_COLUMN,height:2,fill:"var(--ink)"}),svg("rect",{x,y:top,width:STEP_COLUMN,height:bottom-top,fill:"transparent"}));
out.addEventListener("pointermove",(event)=>showTip(event,`steps ${steps[from][0]} to ${steps[to - 1][0]}`,[`median ${time(median)}`,`least ${time(least)}, most ${time(most)}`]));
if(x>=labelled+60){labelled=x;
out.append(svg("text",{x,y:bottom+18},count(steps[from][0])))}
out.addEventListener("pointerleave",hideTip);
return out})}
function showSteps(){byId("steps").hidden=!data.steps||data.steps.of.length===0;
if(byId("steps").hidden)return;
const steps=data.steps.of,box=byId("steps_b"),width=Math.max(240,box.clientWidth);
const high=290,left=52,top=16,bottom=high-26;
const sorted=steps.map((s)=>s[2]).sort((a,b)=>a-b);
const median=data.steps.median||sorted[(sorted.length-1)>>1];
const cut=Math.min(sorted[sorted.length-1],1.6*Math.max(median,sorted[Math.floor(0.95*(sorted.length-1))]));
const scale=(bottom-top-12)/(cut||1),each=(width-left)/ steps.length;
const[per,unit]=[...TIME].reverse().find((t)=>cut>=t[0])||TIME[0];
const chart=svg("svg",{class:"chart",height:high,viewBox:`0 0 ${width} ${high}`,role:"img","aria-label":`${steps.length} steps, median ${time(median)}, `+
`most ${time(sorted[sorted.length - 1])}`},svg("pattern",{id:"idle",width:5,height:5,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},svg("rect",{width:1,height:5,fill:"var(--line2)"})));
const power=10**Math.floor(Math.log10(cut / per / 3||1));
const tick=[1,2,5,10].map((n)=>n*power).find((n)=>n>=cut / per / 5)||1;
for(let y=0;y<=cut / per;y +=tick)
chart.append(svg("line",{x1:left,x2:width,class:"grid",y1:bottom-y*per*scale,y2:bottom-y*per*scale}),svg("text",{x:left-7,"text-anchor":"end",y:bottom-y*per*scale+4},grouped(String(+y.toPrecision(6)))));
chart.append(svg("text",{x:left-7,y:bottom+18,"text-anchor":"end"},unit));
let labelled=-Infinity;
const labelOver=(x,most,text)=>{const at=Math.min(x,most-60);
if(at<labelled)return "";
labelled=at+7*text.length+6;
return svg("text",{x:at,y:10},text)};
if(each<1)chart.append(...stepColumns(steps,left,width,scale,bottom,top));
else steps.forEach((step,i)=>{const x=left+i*each,w=Math.max(0.5,each-(each>=8?Math.min(4,each / 6):0));
chart.append(stepStack(step,x,w,scale,bottom,top));
if(step[2]>cut)
chart.append(svg("path",{d:`M${x - 1} ${top + 6}l${w / 4} -4l${w / 4} 4l${w / 4} -4l${w / 4 + 2} 4`,stroke:"var(--bg)","stroke-width":3,fill:"none"}),labelOver(x,width,time(step[2])));
const every=Math.ceil(34 / each);
if(i % every===0)
chart.append(svg("text",{x:x+w / 2,y:bottom+18,"text-anchor":"middle"},String(step[0])))});
const y=bottom-median*scale;
chart.append(svg("line",{x1:left,x2:width,y1:y,y2:y,stroke:"var(--ink)","stroke-dasharray":"4 3"}),svg("text",{x:width,y:y-5,"text-anchor":"end",class:"ink halo"},`median ${time(median)}`));
box.replaceChildren(chart,el("div",{class:"legend",style:`padding-left:${left}px`},each<1?[["var(--line2)","least to most of the steps of a column"],["var(--ink)","their median"]].map(([colour,text])=>
el("span",null,el("span",{class:"sw",style:`background:${colour}`}),text))
:[el("span",null,"from the bottom:"),legend("unknown"),solidLegend(),el("span",null,el("span",{class:"sw hatch"}),device?"GPU idle":"outside operators")]))}
function idleOf(idle){const line=(label,value)=>el("div",{class:"row"},el("span",null,label),el("span",null,nice(value)));
const name=data.steps.idle.length>1?`GPU ${idle.device} was`:"the GPU was";
return el("div",{class:"facts",style:"margin-top:18px"},el("h3",null,`Why ${name} idle: ${nice(idle.idle)} of ${nice(idle.wall)}`),idle.causes.map(([label,text])=>line(label,text)),idle.host_by.length?el("p",{class:"note",style:"margin-top:8px"},"Launched late while the host was in "+idle.host_by.slice(0,3).map(([name_,text])=>
`${name_ || "no known scope"} (${nice(text)})`).join(", ")+"."):"")}
function showStepFacts(){if(!data.steps)return;
byId("steps_n").textContent=data.steps.all>data.steps.of.length
?`the latest ${count(data.steps.of.length)} of ${count(data.steps.all)}`
:`${count(data.steps.all)} steps` +
(data.steps.region?`, runs of ${data.steps.region}`:"")+
(data.steps.of.some((s)=>s.length>4)?"; parts sum to each"
:"; what single steps did is not known");
byId("steps_s").replaceChildren(el("div",{class:"facts"},data.steps.facts.map(([label,value])=>el("div",{class:"row"},el("span",null,label),el("span",null,nice(value))))),data.steps.excess?el("p",null,fitting(data.steps.excess))
:"",...data.steps.idle.map(idleOf))}
on("resize",showSteps);
)page",
R"page(const kernelView={all:false};
const headCell=(text,small,isNumber)=>el("th",{scope:"col",class:isNumber?"n":""},text,small?el("small",null,small):null);
function middleCut(text,most){if(text.length<=most)return text;
if(text.length<=16||most<8)return text.slice(0,Math.max(1,most-1))+"…";
return text.slice(0,Math.ceil(most / 2)-1)+"…"+text.slice(-Math.floor(most / 2))}
function kernelCut(text,most){const base=text.search(/[ <(]/),tail=base<0?"":text.slice(base).trimStart();
return text.length>most&&tail&&tail.length+9<=most
?text.slice(0,most-tail.length-1)+"…"+tail:middleCut(text,most)}
function kernelRow(i,times,means){const k=kernels,row=k.row[i],dim=(v)=>"n"+(v===null?" dim":"");
return el("tr",{"data-row":row>=0?row:null,tabindex:row>=0?0:null,class:`${row >= 0 && row === state.row ? "sel" : ""} ${isOff(row) ? "off" : ""}`,onclick:()=>row>=0&&select(row),onkeydown:(event)=>{if(event.key==="Enter"&&row>=0)select(row)}},el("th",{scope:"row",title:k.name[i]},el("span",{class:"cut code"},kernelCut(k.short[i]||"several kernels",46))),el("td",{title:k.parameters[i]},k.op[i]||el("span",{class:"dim"},"none")),el("td",null,k.pass[i]),el("td",{class:"n"},times[i]),el("td",{class:"n"},percent(k.share[i])),el("td",{class:"n"},count(k.runs[i])),el("td",{class:dim(k.mean[i])},means[i]),el("td",{class:"n"},k.grid[i]||"differ"),el("td",{class:dim(k.waves[i])},k.waves[i]===null?"n/a":three(k.waves[i])),el("td",{class:dim(k.registers[i])},k.registers[i]===null?"n/a":count(k.registers[i])),el("td",{class:dim(k.shared[i])},k.shared[i]===null?"n/a":count(k.shared[i])),el("td",{class:dim(k.occupancy[i])+"",title:k.limiter[i]},k.occupancy[i]===null?"n/a":percent(k.occupancy[i])),el("td",{class:dim(k.roof[i])},k.roof[i]===null?"n/a"
:[k.bound[i]?swatch(k.bound[i]):"",percent(k.roof[i])]))}
function showKernels(){byId("kernels").hidden=!kernels||kernels.row.length===0;
if(byId("kernels").hidden)return;
const unit=timeUnit(kernels.total),unitMean=timeUnit(kernels.mean);
const times=aligned(kernels.total.map((t)=>t / unit[0]));
const means=aligned(kernels.mean.map((t)=>(t===null?null:t / unitMean[0])));
const some=kernelView.all?kernels.row.length:Math.min(10,kernels.row.length);
byId("kernels_n").textContent=`${count(kernels.all)} by operator and launch configuration, `+
"most time first";
byId("kernels_b").replaceChildren(el("table",null,el("thead",null,el("tr",null,headCell("kernel"),headCell("operator"),headCell("pass"),headCell("time",unit[1],true),headCell("share","",true),headCell("runs","",true),headCell("mean",unitMean[1],true),headCell("grid · block","",true),headCell("waves","",true),headCell("registers","a thread",true),headCell("shared","B a block",true),headCell("occupancy","theoretical",true),headCell("of the roof","",true))),el("tbody",null,Array.from({length:some},(_,i)=>kernelRow(i,times,means)))));
byId("kernels_t").replaceChildren(kernels.row.length>10?el("button",{type:"button",onclick:()=>{kernelView.all=!kernelView.all;showKernels()}},kernelView.all?"the first ten":`all ${count(kernels.row.length)}`):"")}
function showCopies(){const copies=data.copies||[];
byId("copies").hidden=copies.length===0;
if(copies.length===0)return;
byId("copies_n").textContent="by kind of memory; rates are bytes over the time of the copies";
byId("copies_b").replaceChildren(el("table",{style:"max-width:900px"},el("thead",null,el("tr",null,headCell("kind"),headCell("from"),headCell("to"),headCell("GPU","",true),headCell("calls","",true),headCell("bytes","",true),headCell("time","",true),headCell("share","",true),headCell("rate","",true))),el("tbody",null,copies.map((c)=>el("tr",null,el("th",{scope:"row"},c.kind),el("td",null,c.from),el("td",null,c.to),[String(c.device),count(c.calls),si(c.bytes,"B"),time(c.total),percent(c.share),c.rate===null?"n/a":si(c.rate,"B/s")].map((t)=>el("td",{class:"n"},t)))))))}
function saveData(){const text=byId("data").textContent;
const address=URL.createObjectURL(new Blob([text],{type:"application/json"}));
el("a",{href:address,download:`${data.program || "kprof"}.page.json`}).click();
setTimeout(()=>URL.revokeObjectURL(address),1000)}
function showRest(){byId("missing").hidden=data.missing.length===0;
byId("missing_b").replaceChildren(...data.missing.flatMap(([what,why,remedy])=>
[el("dt",null,what),el("dd",null,why),el("dd",null,remedy)]));
byId("machine").hidden=false;
const notes=listed(data.notes);
byId("machine_b").replaceChildren(...data.machine.filter((m)=>listed(m.of).length).map((m)=>
el("div",null,el("h3",null,m.title),listed(m.of).map(([label,value])=>
el("div",{class:"row"},el("span",null,label),el("span",null,nice(value)))))));
if(notes.length)
byId("machine_b").after(el("div",{style:"margin-top:20px"},el("h3",null,"Notes"),el("ul",null,notes.map((n)=>el("li",{class:"note"},"– "+n)))));
byId("foot").replaceChildren(data.version," · all numbers are in this file: no request is made · ",el("button",{class:"link",type:"button",onclick:saveData},"save them as JSON"))}
for(const event of["select","filter"])on(event,showKernels);
)page",
};

inline constexpr std::string_view page_comparing[] = {
R"page(const compared=data.compare;
const compareView={order:"changed",all:false,times:true};
const hasIntervals=compared&&
[...compared.totals,...compared.rows,...compared.kernels.rows].some((c)=>c.interval);
const SAME_ROWS=10,ONLY_ROWS=5;
const OTHER_MACHINE="≠ The machine or the program is not the same in all runs: see above.";
const isChanged=(c)=>c.verdict==="slower"||c.verdict==="faster";
const isOpen=(c)=>c.verdict==="not shown"||c.verdict==="no verdict";
const verdictText=(c)=>(c.verdict==="slower"?"▲ ":"")+c.verdict +
(c.needs?(c.needs.endsWith("runs")?", needs ":", ")+c.needs:"");
const verdictColour=(c)=>(c.verdict==="slower"?"var(--red)"
:c.verdict==="faster"?"var(--ink)":"var(--ink3)");
function compareScale(changes,width){const edge=8,endsOf=(some)=>some.flatMap((c)=>[c.at,c.low??c.at,c.high??c.at]);
const sure=changes.filter((c)=>!isOpen(c));
const near=endsOf(sure.length?sure:changes),ends=endsOf(changes);
const most=Math.min(3,sure.length?3*Math.max(0.05,...near.map(Math.abs)):3);
const low=Math.max(-most,Math.min(-0.04,...ends));
const high=Math.min(most,Math.max(0.04,...ends));
const each=(width-2*edge)/(high-low);
const x=(at)=>edge+(Math.min(high,Math.max(low,at))-low)*each;
const inside=(p)=>p>-100&&Math.log1p(p / 100)>=low&&Math.log1p(p / 100)<=high;
let ticks=[-90,-80,-50,0,100,400,900].filter(inside);
for(const step of high-low>Math.log(6)?[]:[1,2,5,10,20,50,100]){ticks=Array.from({length:1+2*20},(_,i)=>(i-20)*step).filter(inside);
if(ticks.every((p,i)=>i===0||
x(Math.log1p(p / 100))-x(Math.log1p(ticks[i-1]/ 100))>=56))break}
return{x,low,high,width,ticks:ticks.map((p)=>[p,x(Math.log1p(p / 100))])}}
function compareGrid(scale,height){const limit=compared.threshold;
const from=scale.x(Math.log1p(-Math.min(0.99,limit))),to=scale.x(Math.log1p(limit));
return[svg("rect",{x:from,width:to-from,y:0,height,fill:"var(--bg2)"}),scale.ticks.map(([percent,x])=>svg("line",{x1:x,x2:x,y1:0,y2:height,stroke:percent===0?"var(--ink)":"var(--line)"}))]}
function compareAxis(scale){const label=`Change of ${compared.rows.length} rows: ${compared.first}`;
return svg("svg",{class:"chart",height:18,viewBox:`0 0 ${scale.width} 18`,role:"img","aria-label":nice(label)},scale.ticks.map(([percent,x])=>
svg("text",{y:12,"text-anchor":"middle",class:percent===0?"ink":"",x:Math.max(16,Math.min(scale.width-18,x))},percent===0?"same":`${percent < 0 ? "−" : "+"}${Math.abs(percent)}${THIN}%`)))}
function forest(c,scale,height){const colour=verdictColour(c),middle=height / 2,x=scale.x(c.at);
const arrow=(at,turn)=>svg("path",{d:`M${at} ${middle - 4}l${turn * 6} 4l${-turn * 6} 4z`,fill:colour});
return svg("svg",{class:"chart",height,viewBox:`0 0 ${scale.width} ${height}`,"aria-hidden":"true"},compareGrid(scale,height),c.low===undefined?"":svg("line",{x1:scale.x(c.low),x2:scale.x(c.high),y1:middle,y2:middle,stroke:colour,"stroke-width":isChanged(c)?2:1.5,"stroke-dasharray":isOpen(c)?"3 3":null}),(c.low??c.at)<scale.low?arrow(scale.x(scale.low)-2,-1):"",(c.high??c.at)>scale.high?arrow(scale.x(scale.high)+2,1):"",c.at<scale.low||c.at>scale.high?""
:svg("circle",{cx:x,cy:middle,r:isChanged(c)?5:4,stroke:colour,"stroke-width":1.5,fill:isChanged(c)?colour:"var(--bg)"}))}
function tipOfChange(event,c){showTip(event,c.title,[`${nice(c.change)}${c.interval ? `, ${nice(c.interval)}${THIN}%` : ""}: ${verdictText(c)}`,`${time(c.before)} before, ${time(c.after)} after`+(c.share===undefined?"":" a call"),c.share===undefined?"":`${percent(c.share)} of the time`,c.plain===c.change?"":`${nice(c.plain)} with what all rows have in common`,c.mean===undefined||c.mean===c.change?"":`the mean call ${nice(c.mean)}`])}
const beforeAfter=(c)=>`${time(c.before)} → ${time(c.after)}`;
const timesCell=(text)=>(compareView.times
?el("td",{class:"times n dim"},text):"");
function compareRow(c,scale,isTotal){const dim=isChanged(c)?"":" dim",bold=isChanged(c)?"font-weight:600":null;
const style=c.verdict==="slower"?"color:var(--red);font-weight:600":bold;
return el("tr",{...selects(c,isTotal),onpointermove:(event)=>tipOfChange(event,c),onpointerleave:hideTip},el("th",{scope:"row",title:c.title},el("span",{class:"cut"},c.title)),el("td",{class:"plot"},forest(c,scale,isNarrow()?22:27)),timesCell(beforeAfter(c)),compared.common_is_large?el("td",{class:"plain n dim"},nice(c.plain)):"",el("td",{class:"n change"+dim,style},compared.differs
?el("span",{title:OTHER_MACHINE},"≠ "):"",nice(c.change)),hasIntervals
?el("td",{class:"interval"+(isChanged(c)?"":" dim")},c.interval||"n/a"):"",compared.judged?el("td",{class:"verdict"+dim,style},verdictText(c)):"")}
function selects(c,isTotal){const known=c.row!==undefined;
return{"data-row":known?c.row:null,tabindex:known?0:null,class:`${isTotal ? "total" : ""} ${known && c.row === state.row ? "sel" : ""} ` +
(isOff(known?c.row:-1)&&!isTotal?"off":""),onclick:()=>known&&select(c.row),onkeydown:(event)=>{if(event.key==="Enter"&&known)select(c.row)}}}
function unmatchedRow(c,word,scale){return el("tr",selects(c,false),el("th",{scope:"row",title:c.title},el("span",{class:"cut"},c.title)),el("td",{class:"plot"},svg("svg",{class:"chart",height:27,viewBox:`0 0 ${scale.width} 27`,"aria-hidden":"true"},compareGrid(scale,27))),timesCell(`${time(c.time)} a run, ${percent(c.share)}`),compared.common_is_large?el("td",{class:"plain n"}):"",el("td",{class:"n change"},word),hasIntervals?el("td",{class:"interval"}):"",compared.judged?el("td",{class:"verdict"}):"")}
function comparedRows(of){const order=compareView.order==="changed"?listed(of.changed_first)
:of.rows.map((_,i)=>i);
let same=0;
const rows_=order.map((i)=>of.rows[i]);
const shown=rows_.filter((c)=>c.verdict!=="same"||compareView.all||
same++<SAME_ROWS);
return[shown,rows_.length-shown.length]}
function compareBodies(of,scale){const[rows_]=comparedRows(of),most=compareView.all?Infinity:ONLY_ROWS;
const only=(word,list)=>(list.length===0?null:el("tbody",{class:word},list.slice(0,most).map((c)=>unmatchedRow(c,word,scale))));
return[el("tbody",null,rows_.map((c)=>compareRow(c,scale,false))),only("new",listed(of.added)),only("gone",listed(of.gone))]}
function leftOut(of){const only=[of.added,of.gone].map((list)=>
compareView.all?0:Math.max(0,listed(list).length-ONLY_ROWS));
return comparedRows(of)[1]+only[0]+only[1]}
function compareTable(){const box=byId("compare_b"),all=box.clientWidth,kernels_=compared.kernels;
compareView.times=isNarrow()||all>=1000;
const beside=[!compareView.times?0:all>1200?190:168,compared.common_is_large?72:0,compared.differs?88:72,hasIntervals?132:0,compared.judged?204:0].filter((w)=>w>0);
const title=all>1200?340:all>900?260:190;
const width=Math.max(120,isNarrow()?all:all-title-beside.reduce((a,b)=>a+b,0));
const scale=compareScale([...compared.totals,...compared.rows,...kernels_.rows],width);
const left=leftOut(compared)+leftOut(kernels_);
box.replaceChildren(el("table",null,el("colgroup",null,[title,width,...beside].map((w)=>
el("col",{style:`width:${w}px`}))),el("thead",null,el("tr",null,headCell("row"),el("th",{scope:"col",class:"plot"},compareAxis(scale)),compareView.times?headCell("before → after","of a call",true):"",compared.common_is_large?headCell("plain","",true):"",headCell("change","",true),hasIntervals?el("th",{scope:"col",class:"interval"},`95${THIN}% interval`):"",compared.judged?headCell("verdict"):"")),el("tbody",null,compared.totals.map((c)=>compareRow(c,scale,true))),compareBodies(compared,scale),kernels_.rows.length+listed(kernels_.added).length+listed(kernels_.gone).length===0?null
:[el("tbody",{class:"of"},el("tr",null,el("th",{scope:"rowgroup",colspan:2+beside.length},"Kernels",el("span",{class:"note"}," of both sides; times of a run of the kernel, nothing taken out")))),compareBodies(kernels_,scale)]),left>0?el("button",{class:"link",type:"button",onclick:()=>{compareView.all=true;showCompare()}},`${count(left)} more ${left === 1 ? "row is" : "rows are"} the same, new or gone`):"",compared.differs?el("p",{class:"note"},OTHER_MACHINE):"",el("p",{class:"note"},fitting(compared.below.join(" "))))}
function showCompare(){byId("compare").hidden=!compared;
if(!compared)return;
const focused=document.activeElement.closest?.("#compare_b tr[data-row]")?.dataset.row;
const[first,...more]=compared.files;
byId("compare_h").textContent="Compared with "+first.split("/").at(-1)+
(more.length?` and ${count(more.length)} more`:"");
byId("compare_h").title=compared.files.join("\n");
byId("compare_n").textContent=nice(compared.settings)+"; change of the time";
byId("compare_s").replaceChildren(el("b",null,fitting(compared.first))," "+fitting(compared.rest));
byId("compare_w").replaceChildren(...compared.warnings.map((text)=>
el("li",null,el("span",{class:"bad"},"▲ "),fitting(text))));
byId("compare_t").replaceChildren(compared.rows.length>1
?segmented("Order of rows",[["changed","changed first"],["time","by time"]],compareView.order,(order)=>{compareView.order=order;compareTable()}):"");
compareTable();
if(focused!==undefined)byId("compare_b").querySelector(`[data-row="${focused}"]`)?.focus()}
for(const event of["select","filter","resize"])on(event,showCompare);
)page",
};

inline constexpr std::string_view page_script_end[] = {
R"page(const SECTIONS=[["overview","Overview"],["operators","Operators"],["roofline","Roofline"],["tree","Tree"],["timeline","Timeline"],["steps","Steps"],["kernels","Kernels"],["copies","Copies"],["compare","Compare"],["machine","Machine"]];
const shownSections=()=>SECTIONS.filter(([id])=>!byId(id).hidden);
function showLinks(){byId("links").replaceChildren(...shownSections().map(([id,text])=>
el("a",{href:"#"+id,"data-id":id},text)));
markSection()}
function markSection(){let current="overview";
for(const[id]of shownSections())
if(byId(id).getBoundingClientRect().top<140)current=id;
if(innerHeight+scrollY>=document.documentElement.scrollHeight-4&&scrollY>0)
current=shownSections().at(-1)[0];
for(const link of byId("links").children){if(link.dataset.id!==current){link.removeAttribute("aria-current");continue}
if(link.hasAttribute("aria-current"))continue;
link.setAttribute("aria-current","true");
const bar=byId("links");
bar.scrollLeft=link.offsetLeft-bar.offsetLeft-bar.clientWidth / 2+link.clientWidth / 2}
}
const isDark=()=>document.documentElement.dataset.theme
?document.documentElement.dataset.theme==="dark"
:matchMedia("(prefers-color-scheme: dark)").matches;
function setTheme(name){if(name)document.documentElement.dataset.theme=name;
else delete document.documentElement.dataset.theme;
tell("theme")}
const switchTheme=()=>setTheme(isDark()?"light":"dark");
matchMedia("(prefers-color-scheme: dark)").addEventListener("change",()=>tell("theme"));
const KEYS=[["/","filter"],["j k, ↓ ↑","next and previous row"],["Enter","open a row"],["1 … 9","sections"],["w s","zoom the timeline"],["a d","move the timeline"],["0","the whole timeline"],["Esc","up in the tree, then select nothing"],["t","light or dark"],["?","these keys"]];
const WORDS=[["roof","the least time in which this machine could do the FLOPs and move the bytes of a "+
"call, at its highest rates"],["lost","the time of a row above its roof"],["bound","what holds a row back: compute or memory, whose roof is near; cache; balanced "+
"between both; far from both latency, launch of short calls, a small grid that does not fill "+
"the device; impossible above a roof, where a formula or a ceiling is wrong"],["operator","guarded code with parameters, whose FLOPs and bytes are known by formulas; a row "+
"is an operator with one set of parameters"],["region","a named stretch of the program around operators; regions alone is the time in them "+
"that is in no operator; a scope is a region or a call"],["S3, H13, …","the rule behind an advice, which the documentation's page advice explains"]];
function showKeys(){const list=(of,head)=>el("dl",null,of.flatMap(([word,what])=>
[el("dt",null,head(word)),el("dd",null,what)]));
byId("keys").replaceChildren(el("h2",{id:"keys_h"},"Keys and words"),isTouched()?"":list(KEYS,(key)=>el("kbd",null,key)),list(WORDS,(word)=>el("b",null,word)),el("button",{type:"button",onclick:()=>byId("keys").close()},"Close"));
byId("keys").showModal()}
function escape(){hideTip();
const menu=document.querySelector("details.menu[open]");
if(menu){menu.open=false;return}
if(byId("filter")===document.activeElement){clearFilter();byId("filter").blur();return}
if(!treeUp()&&state.row>=0)select(-1,true)}
function onKey(event){if(event.ctrlKey||event.metaKey||event.altKey||byId("keys").open)return;
if(event.key==="Escape"){escape();return}
if(/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)&&
event.target.type!=="checkbox")return;
const sections=shownSections();
const keys={"/":()=>byId("filter").focus(),t:switchTheme,"?":showKeys,j:()=>focusRow(1),k:()=>focusRow(-1)};
if(keys[event.key])keys[event.key]();
else if(/^[1-9]$/.test(event.key)&&sections[event.key-1])goTo(sections[event.key-1][0]);
else if(!timelineKey(event))return;
event.preventDefault()}
addEventListener("keydown",onKey);
addEventListener("click",(event)=>{const menu=document.querySelector("details.menu[open]");
if(menu&&!menu.contains(event.target))menu.open=false});
addEventListener("click",(event)=>{if(event.pointerType==="touch")
event.target.dispatchEvent(new PointerEvent("pointermove",{bubbles:true,clientX:event.clientX,clientY:event.clientY,pointerType:"touch"}))},true);
addEventListener("pointerdown",(event)=>{if(event.pointerType==="touch")hideTip()},true);
let resized=0,sizeBefore="";
addEventListener("resize",()=>{const size=`${innerWidth} ${devicePixelRatio}`;
if(size===sizeBefore)return;
sizeBefore=size;
cancelAnimationFrame(resized);
resized=requestAnimationFrame(()=>tell("resize"))});
addEventListener("scroll",markSection,{passive:true});
addEventListener("hashchange",selectFromHash);
addEventListener("popstate",selectFromHash);
let themeBefore;
addEventListener("beforeprint",()=>{themeBefore=document.documentElement.dataset.theme;
setTheme("light");
document.body.style.width="700px";
document.documentElement.style.setProperty("--pad","0px");
state.printing=true;
tell("resize");
showTable();
if(timeline&&lanes.length)drawTimeline()});
addEventListener("afterprint",()=>{document.body.style.width="";
document.documentElement.style.removeProperty("--pad");
state.printing=false;
showTable();
setTheme(themeBefore);
tell("resize")});
byId("theme").addEventListener("click",switchTheme);
byId("help").addEventListener("click",showKeys);
showTools();
showTable();
showRoofline();
showTree();
showSteps();
showStepFacts();
showKernels();
showCopies();
if(typeof showCompare!=="undefined")showCompare();
showRest();
startTimeline();
showLinks();
if(location.hash.startsWith("#row=")){selectFromHash();
if(state.row>=0)
byId("ops").querySelector(`tr[data-row="${state.row}"]`)?.scrollIntoView({block:"center"})}
document.documentElement.dataset.ready="true";
)page",
R"page(})();
)page",
};

}  // namespace detail
KPROF_DETAIL_END

#endif
