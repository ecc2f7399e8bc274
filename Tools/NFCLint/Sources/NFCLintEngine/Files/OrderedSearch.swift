// SPDX-License-Identifier: Apache-2.0

extension Array {
    /// Returns the first element that meets a condition. All later elements must meet the condition too.
    ///
    /// - Returns: nil if no element meets the condition.
    func firstInOrder(where isMet: (Element) -> Bool) -> Element? {
        let index = firstIndexInOrder(where: isMet)
        return index < count ? self[index] : nil
    }

    /// Returns the index of ``firstInOrder(where:)``, or the number of elements if no element meets the condition.
    func firstIndexInOrder(where isMet: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isMet(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
