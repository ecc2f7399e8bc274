// SPDX-License-Identifier: Apache-2.0

/// The domain of every error that Core NFC reports.
public let NFCErrorDomain: String = "NFCError"
