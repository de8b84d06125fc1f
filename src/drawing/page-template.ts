/** The parts of a page. All of it is markup already: whatever came from a workflow has been escaped. */
export interface GraphPageParts {
  readonly policy: string;
  readonly name: string;
  readonly summary: string;
  readonly style: string;
  readonly svg: string;
  readonly legend: string;
  readonly data: string;
  readonly script: string;
}

const CANVAS_LABEL =
  'The workflow as a picture. Arrow keys move it, plus and minus zoom, 0 shows everything. ' +
  'The list of states beside it says the same in words.';

/** Puts a page together. */
export const renderGraphPage = ({
  policy,
  name,
  summary,
  style,
  svg,
  legend,
  data,
  script,
}: GraphPageParts): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${name}</title>
<style>
${style}</style>
</head>
<body>
<header>
  <h1>${name}</h1>
  <p id="summary">${summary}</p>
  <div class="tools" role="group" aria-label="The picture">
    <button type="button" id="zoom-out" aria-label="Zoom out" title="Zoom out (-)">−</button>
    <button type="button" id="zoom-in" aria-label="Zoom in" title="Zoom in (+)">+</button>
    <button type="button" id="fit" title="Show everything (0)">Fit</button>
    <button type="button" id="theme" aria-label="Light or dark" title="Light or dark">◐</button>
  </div>
</header>
<main>
  <div id="canvas" tabindex="0" role="group" aria-label="${CANVAS_LABEL}">
${svg}    <p id="more" hidden></p>
  </div>
  <aside aria-label="States">
    <form role="search">
      <input type="search" id="search" placeholder="Find a state or a word in a prompt"
        aria-label="Find a state or a word in a prompt" autocomplete="off" spellcheck="false">
      <output id="found" for="search"></output>
    </form>
    <ul id="findings"></ul>
    <ul id="states"></ul>
    <details id="legend" open>
      <summary>Legend</summary>
      <ul>
${legend}
      </ul>
    </details>
    <section id="details" aria-label="The selected state" tabindex="-1" hidden></section>
    <noscript>Without scripts there is only the picture.</noscript>
  </aside>
</main>
<script type="application/json" id="data">${data}</script>
<script type="module">${script}</script>
</body>
</html>
`;
