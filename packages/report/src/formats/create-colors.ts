import { styleText } from 'node:util'

type Style = 'bold' | 'cyan' | 'dim' | 'green' | 'magenta' | 'red' | 'underline' | 'yellow'

/** What tables are styled with. */
export type Colors = Readonly<Record<Style, (text: string) => string>>

/** Styles with ANSI escapes where `isEnabled`, whatever the streams of this process are; else leaves texts as they are. */
export function createColors(isEnabled: boolean): Colors {
  const styleWith = (style: Style): ((text: string) => string) =>
    isEnabled ? (text) => styleText(style, text, { validateStream: false }) : String
  return {
    bold: styleWith('bold'),
    cyan: styleWith('cyan'),
    dim: styleWith('dim'),
    green: styleWith('green'),
    magenta: styleWith('magenta'),
    red: styleWith('red'),
    underline: styleWith('underline'),
    yellow: styleWith('yellow'),
  }
}
