;; Draws a fern by the chaos game: one point hops about by affine maps chosen at random, and the
;; places that it visits form the frond. After Barnsley, "Fractals Everywhere" (1988).
;;
;; The memory's first page onwards holds the picture: WIDTH × HEIGHT pixels, RGBA, one u32 each.
;; While points are drawn a pixel is a count of visits; `develop` turns the counts into colours.
(module $fern
  (memory (export "memory") 16)
  (global $width (export "width") i32 (i32.const 320))
  (global $height (export "height") i32 (i32.const 480))

  (global $random (mut i32) (i32.const 1))
  (global $x (mut f64) (f64.const 0))
  (global $y (mut f64) (f64.const 0))

  ;; Marsaglia's xorshift32: the same seed draws the same fern on every machine.
  (func $next_random (result f64)
    (local $r i32)
    (local.set $r (global.get $random))
    (local.set $r (i32.xor (local.get $r) (i32.shl (local.get $r) (i32.const 13))))
    (local.set $r (i32.xor (local.get $r) (i32.shr_u (local.get $r) (i32.const 17))))
    (local.set $r (i32.xor (local.get $r) (i32.shl (local.get $r) (i32.const 5))))
    (global.set $random (local.get $r))
    (f64.div (f64.convert_i32_u (local.get $r)) (f64.const 4294967296)))

  ;; (x, y) ← (a·x + b·y + e, c·x + d·y + f)
  (func $map (param $a f64) (param $b f64) (param $c f64) (param $d f64) (param $e f64) (param $f f64)
    (local $x f64)
    (local.set $x (global.get $x))
    (global.set $x
      (f64.add
        (f64.add (f64.mul (local.get $a) (local.get $x)) (f64.mul (local.get $b) (global.get $y)))
        (local.get $e)))
    (global.set $y
      (f64.add
        (f64.add (f64.mul (local.get $c) (local.get $x)) (f64.mul (local.get $d) (global.get $y)))
        (local.get $f))))

  ;; Each fern: stem, successively smaller leaflets, largest leaflet left, largest leaflet right.
  (func $lady_fern (param $chance f64)
    (if (f64.lt (local.get $chance) (f64.const 0.01))
      (then (call $map (f64.const 0) (f64.const 0) (f64.const 0) (f64.const 0.16) (f64.const 0) (f64.const 0)) (return)))
    (if (f64.lt (local.get $chance) (f64.const 0.86))
      (then (call $map (f64.const 0.85) (f64.const 0.04) (f64.const -0.04) (f64.const 0.85) (f64.const 0) (f64.const 1.6)) (return)))
    (if (f64.lt (local.get $chance) (f64.const 0.93))
      (then (call $map (f64.const 0.2) (f64.const -0.26) (f64.const 0.23) (f64.const 0.22) (f64.const 0) (f64.const 1.6)) (return)))
    (call $map (f64.const -0.15) (f64.const 0.28) (f64.const 0.26) (f64.const 0.24) (f64.const 0) (f64.const 0.44)))

  (func $marsh_fern (param $chance f64)
    (if (f64.lt (local.get $chance) (f64.const 0.02))
      (then (call $map (f64.const 0) (f64.const 0) (f64.const 0) (f64.const 0.25) (f64.const 0) (f64.const -0.4)) (return)))
    (if (f64.lt (local.get $chance) (f64.const 0.86))
      (then (call $map (f64.const 0.95) (f64.const 0.005) (f64.const -0.005) (f64.const 0.93) (f64.const -0.002) (f64.const 0.5)) (return)))
    (if (f64.lt (local.get $chance) (f64.const 0.93))
      (then (call $map (f64.const 0.035) (f64.const -0.2) (f64.const 0.16) (f64.const 0.04) (f64.const -0.09) (f64.const 0.02)) (return)))
    (call $map (f64.const -0.04) (f64.const 0.2) (f64.const 0.16) (f64.const 0.04) (f64.const 0.083) (f64.const 0.12)))

  (func $woolly_tree_fern (param $chance f64)
    (if (f64.lt (local.get $chance) (f64.const 0.02))
      (then (call $map (f64.const 0) (f64.const 0) (f64.const 0) (f64.const 0.25) (f64.const 0) (f64.const -0.14)) (return)))
    (if (f64.lt (local.get $chance) (f64.const 0.86))
      (then (call $map (f64.const 0.85) (f64.const 0.02) (f64.const -0.02) (f64.const 0.83) (f64.const 0) (f64.const 1)) (return)))
    (if (f64.lt (local.get $chance) (f64.const 0.93))
      (then (call $map (f64.const 0.09) (f64.const -0.28) (f64.const 0.3) (f64.const 0.11) (f64.const 0) (f64.const 0.6)) (return)))
    (call $map (f64.const -0.09) (f64.const 0.28) (f64.const 0.3) (f64.const 0.09) (f64.const 0) (f64.const 0.7)))

  (func $fishbone_fern (param $chance f64)
    (if (f64.lt (local.get $chance) (f64.const 0.02))
      (then (call $map (f64.const 0) (f64.const 0) (f64.const 0) (f64.const 0.25) (f64.const 0) (f64.const -0.4)) (return)))
    (if (f64.lt (local.get $chance) (f64.const 0.86))
      (then (call $map (f64.const 0.95) (f64.const 0.002) (f64.const -0.002) (f64.const 0.93) (f64.const -0.002) (f64.const 0.5)) (return)))
    (if (f64.lt (local.get $chance) (f64.const 0.93))
      (then (call $map (f64.const 0.035) (f64.const -0.11) (f64.const 0.27) (f64.const 0.01) (f64.const -0.05) (f64.const 0.005)) (return)))
    (call $map (f64.const -0.04) (f64.const 0.11) (f64.const 0.27) (f64.const 0.01) (f64.const 0.047) (f64.const 0.06)))

  (func $hop (param $species i32)
    (local $chance f64)
    (local.set $chance (call $next_random))
    (block $fishbone
      (block $tree
        (block $marsh
          (block $lady
            (br_table $lady $marsh $tree $fishbone (local.get $species)))
          (return (call $lady_fern (local.get $chance))))
        (return (call $marsh_fern (local.get $chance))))
      (return (call $woolly_tree_fern (local.get $chance))))
    (call $fishbone_fern (local.get $chance)))

  ;; The address of the pixel that the point is in, or -1 outside the picture.
  (func $pixel (param $scale f64) (param $bottom f64) (result i32)
    (local $column i32)
    (local $row i32)
    (local.set $column
      (i32.trunc_sat_f64_s
        (f64.add (f64.mul (global.get $x) (local.get $scale)) (f64.const 160))))
    (local.set $row
      (i32.trunc_sat_f64_s
        (f64.sub
          (f64.const 470)
          (f64.mul (f64.sub (global.get $y) (local.get $bottom)) (local.get $scale)))))
    (if (i32.or
          (i32.ge_u (local.get $column) (global.get $width))
          (i32.ge_u (local.get $row) (global.get $height)))
      (then (return (i32.const -1))))
    (i32.shl
      (i32.add (i32.mul (local.get $row) (global.get $width)) (local.get $column))
      (i32.const 2)))

  ;; Clears the picture and plays `points` hops. Returns how many pixels were visited.
  (func $grow (export "grow")
    (param $species i32) (param $points i32) (param $scale f64) (param $bottom f64) (result i32)
    (local $at i32)
    (local $visited i32)
    (memory.fill
      (i32.const 0)
      (i32.const 0)
      (i32.shl (i32.mul (global.get $width) (global.get $height)) (i32.const 2)))
    (global.set $random (i32.const 1988))
    (global.set $x (f64.const 0))
    (global.set $y (f64.const 0))
    (loop $again
      (call $hop (local.get $species))
      (local.set $at (call $pixel (local.get $scale) (local.get $bottom)))
      (if (i32.ge_s (local.get $at) (i32.const 0))
        (then
          (if (i32.eqz (i32.load (local.get $at)))
            (then (local.set $visited (i32.add (local.get $visited) (i32.const 1)))))
          (i32.store (local.get $at) (i32.add (i32.load (local.get $at)) (i32.const 1)))))
      (local.set $points (i32.sub (local.get $points) (i32.const 1)))
      (br_if $again (i32.gt_s (local.get $points) (i32.const 0))))
    (local.get $visited))

  ;; Turns counts into opacity of one colour (0x00BBGGRR), brighter by the square root of the count.
  (func $develop (export "develop") (param $colour i32)
    (local $at i32)
    (local $end i32)
    (local $alpha i32)
    (local.set $end (i32.shl (i32.mul (global.get $width) (global.get $height)) (i32.const 2)))
    (loop $again
      (local.set $alpha
        (i32.trunc_sat_f64_u
          (f64.min
            (f64.const 255)
            (f64.mul (f64.const 90) (f64.sqrt (f64.convert_i32_u (i32.load (local.get $at))))))))
      (i32.store
        (local.get $at)
        (i32.or (local.get $colour) (i32.shl (local.get $alpha) (i32.const 24))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $again (i32.lt_u (local.get $at) (local.get $end))))))
