// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Returns the bytes with zeros in some ranges.
    package func concealing(_ places: [Range<Int>]) -> [UInt8] {
        var bytes = self
        for place in places { for index in place.clamped(to: indices) { bytes[index] = 0 } }
        return bytes
    }
}

extension Frame {
    /// Returns the frame with zeros in some ranges.
    package func concealing(_ places: [Range<Int>]) -> Frame {
        var frame = self
        frame.bytes = bytes.concealing(places)
        return frame
    }
}
