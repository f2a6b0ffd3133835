/**
 * A writer of SVG text: elements in the order in which they are drawn, numbers rounded to a
 * hundredth of a pixel, so that the same drawing is the same bytes everywhere.
 */

export type Attribute = string | number | undefined;

/** Attribute names as SVG spells them: `stroke-width`, `text-anchor`. */
export interface Attributes {
  readonly [name: string]: Attribute;
}

/** A place and size in pixels, y downwards. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * A number of the drawing: at most two decimals, no exponent, no minus zero.
 * @throws RangeError for NaN and infinities, which would make a file that no viewer opens
 */
export function svgNumber(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`a coordinate is finite, not ${value}`);
  const rounded = Math.round(value * 100) / 100;
  return rounded === 0 ? '0' : String(rounded);
}

/** Text as XML holds it; characters that XML 1.0 forbids become a space. */
export function escapeXml(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** `M x y L x y …` through the points. */
export function polyline(points: readonly (readonly [number, number])[]): string {
  return points
    .map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${svgNumber(x)} ${svgNumber(y)}`)
    .join('');
}

export interface SvgHead {
  readonly width: number;
  readonly height: number;
  /** One line for screen readers and tooltips. */
  readonly title: string;
  /** The drawing in words, for those who cannot see it. */
  readonly description: string;
  /** A style sheet; `class` attributes refer to it. */
  readonly style?: string;
}

/** One drawing under construction. */
export class SvgWriter {
  private readonly lines: string[] = [];
  /** Groups that wait for their end. */
  private depth = 0;
  private readonly head: SvgHead;

  constructor(head: SvgHead) {
    this.head = head;
  }

  /** Adds an element, with text in it when `text` is given. */
  element(name: string, attributes: Attributes, text?: string): void {
    const open = `<${name}${writeAttributes(attributes)}`;
    this.push(text === undefined ? `${open}/>` : `${open}>${escapeXml(text)}</${name}>`);
  }

  /** Draws what `draw` draws inside a group. */
  group(attributes: Attributes, draw: () => void): void {
    this.push(`<g${writeAttributes(attributes)}>`);
    this.depth += 1;
    draw();
    this.depth -= 1;
    this.push('</g>');
  }

  rect(box: Box, attributes: Attributes = {}): void {
    const { x, y, width, height } = box;
    this.element('rect', {
      x,
      y,
      width: Math.max(0, width),
      height: Math.max(0, height),
      ...attributes,
    });
  }

  /** A straight line. */
  line(x1: number, y1: number, x2: number, y2: number, attributes: Attributes = {}): void {
    this.element('line', { x1, y1, x2, y2, ...attributes });
  }

  path(d: string, attributes: Attributes = {}): void {
    this.element('path', { d, ...attributes });
  }

  text(x: number, y: number, text: string, attributes: Attributes = {}): void {
    this.element('text', { x, y, ...attributes }, text);
  }

  /** The whole file, with a line feed at its end. */
  toString(): string {
    const { width, height, title, description, style } = this.head;
    const size = `width="${svgNumber(width)}" height="${svgNumber(height)}"`;
    const view = `viewBox="0 0 ${svgNumber(width)} ${svgNumber(height)}"`;
    const names = 'role="img" aria-labelledby="title description"';
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${view} ${names}>`,
      `<title id="title">${escapeXml(title)}</title>`,
      `<desc id="description">${escapeXml(description)}</desc>`,
      ...(style === undefined ? [] : [`<style>${style}</style>`]),
      ...this.lines,
      '</svg>\n',
    ].join('\n');
  }

  private push(line: string): void {
    this.lines.push('  '.repeat(this.depth) + line);
  }
}

function writeAttributes(attributes: Attributes): string {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = typeof value === 'number' ? svgNumber(value) : escapeXml(value!);
      return ` ${name}="${text}"`;
    })
    .join('');
}
