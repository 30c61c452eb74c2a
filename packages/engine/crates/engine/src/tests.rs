mod answers;
mod layers;
mod limits;
mod links;
mod panics;
mod relay;
