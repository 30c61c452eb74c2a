// The same in every release, so every build has this chunk under the same name.
export const render = () => '<h1>Hours</h1><p>From six in the morning until everything is sold.</p>'
