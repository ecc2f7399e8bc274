// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The security status of blocks (ISO/IEC 15693-3, 10.4.12).
public struct NFCISO15693MultipleBlockSecurityStatus {
    /// The status of each block, in order: 0 for a block that is not locked, 1 for one that is.
    public var blockSecurityStatus: [Int]

    /// Creates a value, for example for your own tag class.
    ///
    /// - Parameter blockSecurityStatus: the status of each block, in order.
    public init(blockSecurityStatus: [Int]) {
        self.blockSecurityStatus = blockSecurityStatus
    }

    init(_ statuses: [NSNumber]) {
        self.init(blockSecurityStatus: statuses.map(\.intValue))
    }
}
