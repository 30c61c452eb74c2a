import { describe, expect, test } from 'vitest'
import { filesOfPage } from './files-of-page.ts'

describe('filesOfPage', () => {
  test.each<readonly [string, readonly string[], readonly string[]]>([
    ['<script src=a.js></script><script type=module src=b.js></script>', ['a.js', 'b.js'], []],
    ['<link rel=stylesheet href=a.css><link rel="modulepreload" href=b.js>', ['a.css', 'b.js'], []],
    ['<link rel="shortcut ICON" href=a.ico><link rel=manifest href=m.json>', [], ['a.ico', 'm.json']],
    ['<link rel=canonical href=/x><a href=y><iframe src=z></iframe>', [], []],
    ['<img src=a.png srcset="b.png 2x, c,d.png 300w,e.png">', [], ['a.png', 'b.png', 'c,d.png', 'e.png']],
    [
      '<picture><source srcset=a.avif></picture><video poster=p.jpg src=v.mp4>',
      [],
      ['a.avif', 'v.mp4', 'p.jpg'],
    ],
    ['<template><img src=a.png></template><noscript><img src=b.png></noscript>', [], []],
    ['<!-- <img src=a.png> --><script>document.write("<img src=b.png>")</script>', [], []],
    ['<svg><script href=a.js /></svg><img src="">', [], []],
    ['<constructor src=a.png>', [], []],
  ])('finds the files of %s', async (html, needed, others) => {
    const { files } = await filesOfPage(`<!doctype html><html><head></head><body>${html}`)
    expect(files.filter(({ isNeeded }) => isNeeded).map(({ url }) => url)).toEqual(needed)
    expect(files.filter(({ isNeeded }) => !isNeeded).map(({ url }) => url)).toEqual(others)
  })

  test("returns the base of the page's URLs", async () => {
    expect((await filesOfPage('<base href=/app/><base href=/other/>')).baseUrl).toBe('/app/')
    expect((await filesOfPage('<p>')).baseUrl).toBeUndefined()
  })
})
