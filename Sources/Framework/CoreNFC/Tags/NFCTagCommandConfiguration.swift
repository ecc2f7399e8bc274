// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TagLink

/// How often, and how soon, a command is sent again when the tag does not answer.
///
/// May be used from any thread. A command uses the values at the time of the call.
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

    /// The retries, or an error when they are out of bounds.
    var policy: Result<RetryPolicy, NFCReaderError> {
        let (retries, interval) = storage.withLock { $0 }
        guard (0...RetryPolicy.maximumRetries).contains(retries), interval >= 0, interval <= 60 else {
            return .failure(
                NFCReaderError(
                    .tagCommandConfigurationErrorInvalidParameters,
                    reason: "maximumRetries is from 0 to 256 and retryInterval from 0 to 60 seconds."
                )
            )
        }
        return .success(RetryPolicy(retries: retries, interval: .seconds(interval)))
    }
}
