// SPDX-License-Identifier: Apache-2.0

/// The position where two answers first differ.
struct CollisionPoint: Error {
    var bitIndex: Int
    var bits: [UInt8]
}
