/** What the stations say, once they have answered. */
export interface Forecast {
  readonly place: string
  readonly degrees: number
}
