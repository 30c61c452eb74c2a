import fernUrl from './fern.wasm?url&no-inline'

export interface Fern {
  name: string
  /** Its index in the WebAssembly module. */
  index: number
  /** Pixels per unit of the plane that the point hops in. */
  scale: number
  /** The lowest y that the point reaches. */
  bottom: number
}

export const ferns = [
  { name: 'Lady fern', index: 0, scale: 45, bottom: 0 },
  { name: 'Marsh fern', index: 1, scale: 60, bottom: -0.52 },
  { name: 'Woolly tree fern', index: 2, scale: 76, bottom: -0.15 },
  { name: 'Fishbone fern', index: 3, scale: 60, bottom: -0.52 },
] as const satisfies Fern[]

export interface FernModule {
  memory: WebAssembly.Memory
  width: WebAssembly.Global<'i32'>
  height: WebAssembly.Global<'i32'>
  grow: (index: number, hops: number, scale: number, bottom: number) => number
  develop: (colour: number) => void
}

export async function loadFernModule(): Promise<FernModule> {
  const { instance } = await WebAssembly.instantiateStreaming(fetch(fernUrl))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fern.wat exports these
  return instance.exports as unknown as FernModule
}

/** Grows a fern onto a canvas, and returns how many of its pixels the point visited. */
export function drawFern(
  wasm: FernModule,
  fern: Fern,
  { hops, canvas }: { hops: number; canvas: HTMLCanvasElement },
): number {
  const visited = wasm.grow(fern.index, hops, fern.scale, fern.bottom)
  wasm.develop(0x00_5a_8a_3c)

  canvas.width = wasm.width.value
  canvas.height = wasm.height.value
  const bytes = canvas.width * canvas.height * 4
  const pixels = new Uint8ClampedArray(wasm.memory.buffer, 0, bytes)
  canvas.getContext('2d')?.putImageData(new ImageData(pixels, canvas.width), 0, 0)
  return visited
}
