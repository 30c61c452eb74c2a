export default function Index() {
  return 'Fixture'
}
