// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TagLink

/// The settings for sending a command again when the tag does not answer.
///
/// This class may be used from any thread. A command uses the values at the time of the call.
public class NFCTagCommandConfiguration: NSObject, NSCopying {
    private let storage: Locked<(retries: Int, interval: TimeInterval)>

    init(maximumRetries: Int, retryInterval: TimeInterval) {
        storage = Locked((maximumRetries, retryInterval))
    }

    /// How many times the command is sent again when the tag does not answer: 0 to 256. The default is 0.
    public var maximumRetries: Int {
        get { storage.withLock { $0.retries } }
        set { storage.withLock { $0.retries = newValue } }
    }

    /// How long to wait before the command is sent again, in seconds. The default is 0.
    public var retryInterval: TimeInterval {
        get { storage.withLock { $0.interval } }
        set { storage.withLock { $0.interval = newValue } }
    }

    public func copy(with zone: NSZone? = nil) -> Any {
        NFCTagCommandConfiguration(maximumRetries: maximumRetries, retryInterval: retryInterval)
    }

    /// The retry policy; throws when the values are out of bounds.
    var policy: RetryPolicy {
        get throws {
            let (retries, interval) = storage.withLock { $0 }
            guard (0...256).contains(retries), interval >= 0, interval <= 60 else {
                throw NFCReaderError(
                    .tagCommandConfigurationErrorInvalidParameters,
                    reason: "maximumRetries must be from 0 to 256, and retryInterval from 0 to 60 seconds."
                )
            }
            return RetryPolicy(retries: retries, interval: .seconds(interval))
        }
    }
}

/// How often and how soon a command is sent again when the tag does not answer.
struct RetryPolicy: Sendable {
    var retries = 0
    var interval = Duration.zero
    /// Whether a tag that did not answer is lost.
    var losesTag = true
}

/// A custom command of a manufacturer, and the number of retries.
public final class NFCISO15693CustomCommandConfiguration: NFCTagCommandConfiguration {
    private struct Fields {
        var manufacturerCode: Int
        var customCommandCode: Int
        var requestParameters: Data
    }

    private let storage: Locked<Fields>

    /// Creates a configuration without retries.
    public convenience init(manufacturerCode: Int, customCommandCode: Int, requestParameters: Data?) {
        self.init(
            manufacturerCode: manufacturerCode,
            customCommandCode: customCommandCode,
            requestParameters: requestParameters,
            maximumRetries: 0,
            retryInterval: 0
        )
    }

    /// Creates a configuration. Each argument sets the property of the same name.
    public init(
        manufacturerCode: Int,
        customCommandCode: Int,
        requestParameters: Data?,
        maximumRetries: Int,
        retryInterval: TimeInterval
    ) {
        storage = Locked(
            Fields(
                manufacturerCode: manufacturerCode,
                customCommandCode: customCommandCode,
                requestParameters: requestParameters ?? Data()
            )
        )
        super.init(maximumRetries: maximumRetries, retryInterval: retryInterval)
    }

    /// The manufacturer's code (ISO/IEC 7816-6), 0 to 0xFF.
    public var manufacturerCode: Int {
        get { storage.withLock { $0.manufacturerCode } }
        set { storage.withLock { $0.manufacturerCode = newValue } }
    }

    /// The command's code, 0xA0 to 0xDF.
    public var customCommandCode: Int {
        get { storage.withLock { $0.customCommandCode } }
        set { storage.withLock { $0.customCommandCode = newValue } }
    }

    /// The data after the manufacturer's code; empty for none.
    public var requestParameters: Data {
        get { storage.withLock { $0.requestParameters } }
        set { storage.withLock { $0.requestParameters = newValue } }
    }

    public override func copy(with zone: NSZone? = nil) -> Any {
        NFCISO15693CustomCommandConfiguration(
            manufacturerCode: manufacturerCode,
            customCommandCode: customCommandCode,
            requestParameters: requestParameters,
            maximumRetries: maximumRetries,
            retryInterval: retryInterval
        )
    }
}

/// A range of blocks to read, the number of blocks in each command, and the number of retries.
public final class NFCISO15693ReadMultipleBlocksConfiguration: NFCTagCommandConfiguration {
    private let storage: Locked<(range: NSRange, chunkSize: Int)>

    /// Creates a configuration without retries.
    public convenience init(range: NSRange, chunkSize: Int) {
        self.init(range: range, chunkSize: chunkSize, maximumRetries: 0, retryInterval: 0)
    }

    /// Creates a configuration. Each argument sets the property of the same name.
    public init(range: NSRange, chunkSize: Int, maximumRetries: Int, retryInterval: TimeInterval) {
        storage = Locked((range, chunkSize))
        super.init(maximumRetries: maximumRetries, retryInterval: retryInterval)
    }

    /// The range of blocks: one or more, from 0 to 255.
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
