/** The forecast of the weather stations. */
export interface Forecast {
  readonly place: string
  readonly degrees: number
}
