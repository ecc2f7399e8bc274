// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TagLink

/// A range of blocks to read, the number of blocks in each command, and the number of retries.
public final class NFCISO15693ReadMultipleBlocksConfiguration: NFCTagCommandConfiguration {
    private let storage: Locked<(range: NSRange, chunkSize: Int)>

    /// Creates a configuration without retries.
    ///
    /// - Parameters:
    ///   - range: the blocks, from 0 to 255, at least one.
    ///   - chunkSize: how many blocks one command reads.
    public convenience init(range: NSRange, chunkSize: Int) {
        self.init(range: range, chunkSize: chunkSize, maximumRetries: 0, retryInterval: 0)
    }

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - range: the blocks, from 0 to 255, at least one.
    ///   - chunkSize: how many blocks one command reads.
    ///   - maximumRetries: how many times a command is sent again when the tag does not answer.
    ///   - retryInterval: how long to wait before each retry, in seconds.
    public init(range: NSRange, chunkSize: Int, maximumRetries: Int, retryInterval: TimeInterval) {
        storage = Locked((range, chunkSize))
        super.init(maximumRetries: maximumRetries, retryInterval: retryInterval)
    }

    /// The blocks, from 0 to 255, at least one.
    public var range: NSRange {
        get { storage.withLock { $0.range } }
        set { storage.withLock { $0.range = newValue } }
    }

    /// How many blocks one command reads.
    public var chunkSize: Int {
        get { storage.withLock { $0.chunkSize } }
        set { storage.withLock { $0.chunkSize = newValue } }
    }

    public override func copy(with zone: NSZone? = nil) -> Any {
        NFCISO15693ReadMultipleBlocksConfiguration(
            range: range,
            chunkSize: chunkSize,
            maximumRetries: maximumRetries,
            retryInterval: retryInterval
        )
    }
}
