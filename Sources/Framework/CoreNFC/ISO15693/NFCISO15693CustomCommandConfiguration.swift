// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TagLink

/// A custom command of a manufacturer, and the number of retries.
public final class NFCISO15693CustomCommandConfiguration: NFCTagCommandConfiguration {
    private struct Fields {
        var manufacturerCode: Int
        var customCommandCode: Int
        var requestParameters: Data
    }

    private let storage: Locked<Fields>

    /// Creates a configuration without retries.
    ///
    /// - Parameters:
    ///   - manufacturerCode: the manufacturer's code (ISO/IEC 7816-6), 0 to 0xFF.
    ///   - customCommandCode: the command's code, 0xA0 to 0xDF.
    ///   - requestParameters: what follows the manufacturer's code; nil for nothing.
    public convenience init(manufacturerCode: Int, customCommandCode: Int, requestParameters: Data?) {
        self.init(
            manufacturerCode: manufacturerCode,
            customCommandCode: customCommandCode,
            requestParameters: requestParameters,
            maximumRetries: 0,
            retryInterval: 0
        )
    }

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - manufacturerCode: the manufacturer's code (ISO/IEC 7816-6), 0 to 0xFF.
    ///   - customCommandCode: the command's code, 0xA0 to 0xDF.
    ///   - requestParameters: what follows the manufacturer's code; nil for nothing.
    ///   - maximumRetries: how many times the command is sent again when the tag does not answer.
    ///   - retryInterval: how long to wait before each retry, in seconds.
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

    /// What follows the manufacturer's code; empty for nothing.
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
