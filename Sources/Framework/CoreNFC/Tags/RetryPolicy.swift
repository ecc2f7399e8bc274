// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The number of retries and their interval, checked.
package struct RetryPolicy: Sendable, Hashable {
    static let maximumRetries = 256

    package var retries: Int
    package var interval: Duration

    package init(retries: Int = 0, interval: Duration = .zero) {
        self.retries = retries
        self.interval = interval
    }

    package static let none = RetryPolicy()

    /// Whether sending again may help: the tag did not answer, or its answer could not be read.
    ///
    /// An error that the tag reported is an answer, and so is an answer of the wrong length. Neither is retried.
    static func isWorthRetrying(_ error: NFCReaderError) -> Bool {
        error.code == .readerTransceiveErrorTagResponseError
            && error.userInfo[NFCISO15693TagResponseErrorKey] == nil
            && error.userInfo[NFCTagResponseUnexpectedLengthErrorKey] == nil
    }
}
