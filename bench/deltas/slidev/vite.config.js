// The plugin of the workspace that measures.
const { default: serveDist } = await import(process.env['SERVE_DIST_PLUGIN'])

export default { plugins: [serveDist({ pass: false })] }
