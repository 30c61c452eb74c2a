export const lighthouses = [
  { name: 'fastnet', title: 'Fastnet', height: 54, lit: 1904 },
  { name: 'eddystone', title: 'Eddystone', height: 49, lit: 1882 },
  { name: 'ar-men', title: 'Ar-Men', height: 33, lit: 1881 },
]
