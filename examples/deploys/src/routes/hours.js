// This chunk is the same in every release, so it has the same name in every build.
export const render = () => '<h1>Hours</h1><p>From six in the morning until everything is sold.</p>'
