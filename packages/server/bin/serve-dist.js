#!/usr/bin/env node
import { runCommand } from '../dist/run-command.js'

await runCommand(process.argv)
