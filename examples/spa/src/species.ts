import env from 'virtual:serve-dist/env'

import { publicFile } from './public-file.ts'

export const habitats = ['meadow', 'hedgerow', 'woodland', 'waterside'] as const

export interface Species {
  /** Genus and epithet joined by a dot. */
  id: string
  latin: string
  name: string
  family: string
  habitat: (typeof habitats)[number]
  heightCm: [number, number]
  /** First and last month in flower, from 1. */
  months: [number, number]
  petals: number
  colour: string
  note: string
}

let species: Promise<Species[]> | undefined

export function loadSpecies(): Promise<Species[]> {
  species ??= fetchSpecies()
  return species
}

export function monthName(month: number, style: 'long' | 'short' = 'long'): string {
  return new Date(2000, month - 1).toLocaleString('en', { month: style })
}

async function fetchSpecies(): Promise<Species[]> {
  const url = env.API_URL === undefined ? publicFile('data/species.json') : `${env.API_URL}/species.json`
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  return response.json()
}
